//! Searches of one collection or several.

use std::sync::Arc;

use chunkwright::{TokenCounter, Words};
use chunkwright_engine::settings::{Layers, Source};
use chunkwright_engine::{
    Access, Builder, Engine, Error, Expand, ExpandRequest, Filter, Found, FoundPassage, GenerationSpec, Hit,
    IndexRequest, Mode, NewSource, NoticeCode, SearchAnswer, SearchRequest, Verdict,
};
use chunkwright_index::{MemoryStore, Store, analysis};
use chunkwright_models::{
    EmbedError, Embedder, Embedding, Languages, ModelInfo, RerankError, Reranker, Role, text_hash,
};
use serde_json::json;

/// Texts that share words are near.
struct Bag(ModelInfo);

impl Bag {
    fn new(name: &str) -> Arc<Self> {
        Arc::new(Self(ModelInfo {
            name: name.into(),
            dimension: 64,
            sparse: false,
            max_tokens: None,
            counter: Arc::new(Words),
            reads: Languages::All,
            price_per_million_tokens: None,
        }))
    }
}

impl Embedder for Bag {
    fn model(&self) -> &ModelInfo {
        &self.0
    }

    fn embed(&self, texts: &[&str], _: Role) -> Result<Vec<Embedding>, EmbedError> {
        let vector = |text: &str| {
            let mut vector = vec![1e-3_f32; 64];
            for term in analysis::terms(text) {
                vector[usize::from(text_hash(&term)[0]) % 64] += 1.0;
            }
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            vector.iter().map(|value| value / length).collect()
        };
        let embedding =
            |text: &&str| Embedding { vector: vector(text), unread_tokens: 0, sparse: None, tokens: None };
        Ok(texts.iter().map(embedding).collect())
    }
}

/// Prefers long texts.
struct Longest;

impl Reranker for Longest {
    fn name(&self) -> &'static str {
        "longest"
    }

    fn rerank(&self, _: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
        Ok(texts.iter().map(|text| text.len() as f32).collect())
    }
}

/// A store that engines with different embedders share.
struct Shelf(Arc<dyn Store>);

impl Shelf {
    fn new() -> Self {
        Self(Arc::new(MemoryStore::default()))
    }

    fn engine(&self, embedder: Option<&str>) -> Engine {
        let builder = self.builder();
        match embedder {
            Some(name) => builder.embedder(Bag::new(name)),
            None => builder,
        }
        .open(Access::Write)
        .expect("an engine")
    }

    fn builder(&self) -> Builder {
        let values = [
            ("tokenizer".to_owned(), json!("words")),
            ("embedder".to_owned(), json!("none")),
            ("max_size".to_owned(), json!(60)),
            ("min_size".to_owned(), json!(8)),
        ];
        let settings = Layers::default().settings(Source::Request, values).expect("settings");
        Engine::builder(settings).store(Arc::clone(&self.0))
    }

    fn put(&self, collection: &str, embedder: Option<&str>, documents: &[(&str, &str)]) {
        let documents = documents.iter().map(|(doc_id, text)| NewSource::new(*doc_id, *text));
        let engine = self.engine(embedder);
        engine.collection(collection).put(IndexRequest::default(), documents, &|_| {}).expect("documents");
    }
}

const ENGLISH: &str = "# Retries\n\nA request that timed out is sent again after a pause.\n\n# Limits\n\nThe server \
accepts forty requests in a minute and refuses the others.\n";
const CHINESE: &str =
    "# 重试\n\n请求超时以后，等待片刻再发送一次 request。\n\n# 限制\n\n服务器每分钟最多接受四十个请求。\n";
const RUSSIAN: &str = "# Повторы\n\nЗапрос request, который не дождался ответа, отправляется ещё раз после паузы.\n\n\
# Пределы\n\nСервер принимает сорок запросов в минуту.\n";

fn three() -> Shelf {
    let shelf = Shelf::new();
    shelf.put("english", None, &[("api.md", ENGLISH)]);
    shelf.put("中文", None, &[("api.md", CHINESE)]);
    shelf.put("русский", None, &[("api.md", RUSSIAN)]);
    shelf
}

fn hits(answer: &SearchAnswer) -> &[Hit] {
    let Found::Hits { hits } = &answer.found else { panic!("hits were expected") };
    hits
}

fn passages(answer: &SearchAnswer) -> &[FoundPassage] {
    let Found::Passages { passages } = &answer.found else { panic!("passages were expected") };
    passages
}

fn collections(answer: &SearchAnswer) -> Vec<&str> {
    hits(answer).iter().map(|hit| hit.collection.as_str()).collect()
}

fn codes(answer: &SearchAnswer) -> Vec<NoticeCode> {
    answer.notices.iter().map(|notice| notice.code).collect()
}

fn of(names: &[&str], query: &str) -> SearchRequest {
    SearchRequest {
        collections: names.iter().map(|&name| name.into()).collect(),
        ..SearchRequest::new(query)
    }
}

/// A search of every collection for all that has a word of the query.
fn all(query: &str) -> SearchRequest {
    let min_relevance = Some(0.0);
    SearchRequest { all_collections: true, top_k: 50, min_relevance, ..SearchRequest::new(query) }
}

#[test]
fn pages_follow_one_another_where_hits_are_left_out_for_their_relevance() {
    let shelf = three();
    let engine = shelf.engine(None);
    let ids = |request: SearchRequest| -> Vec<_> {
        hits(&engine.search(&request).unwrap()).iter().map(|hit| hit.record.chunk_id).collect()
    };
    let mut are_some_left_out = false;
    for query in
        ["request запрос 请求", "server request answer retry header", "where is the server of requests"]
    {
        for min_relevance in [None, Some(0.2), Some(0.5)] {
            let request = |offset, top_k| SearchRequest { min_relevance, offset, top_k, ..all(query) };
            let whole = ids(request(0, 50));
            are_some_left_out |= whole.len() < ids(all(query)).len();
            let mut paged = Vec::new();
            loop {
                let page = ids(request(paged.len(), 2));
                if page.is_empty() {
                    break;
                }
                paged.extend(page);
            }
            assert_eq!(paged, whole, "{query} {min_relevance:?}");
        }
    }
    assert!(are_some_left_out);
}

#[test]
fn what_of_a_query_could_not_be_used_is_said() {
    let shelf = Shelf::new();
    shelf.put("notes", Some("m"), &[("src/auth/login.md", ENGLISH), ("src/other/x.md", RUSSIAN)]);
    let engine = shelf.engine(Some("m"));
    for (query, first, notice) in [
        ("\"forty requests\"", "src/auth/login.md", ""),
        (
            "\"requests forty\"",
            "src/auth/login.md",
            "no chunk has \"requests forty\": searched for the words",
        ),
        (
            "error \"no such\" in \"the server\" request",
            "src/auth/login.md",
            "no chunk has \"no such\" and \"the server\"",
        ),
        (
            "path:SRC/Auth request",
            "src/auth/login.md",
            "no document is at `SRC/Auth`: taken as `SRC/Auth` in small or capital letters",
        ),
        ("path:src\\auth request", "src/auth/login.md", "no document is at `src\\auth`: taken as `src/auth`"),
        ("path:*.md request", "src/auth/login.md", "no document is at `*.md`: taken as `**/*.md`"),
        (
            "path:auth/*.md request",
            "src/auth/login.md",
            "no document is at `auth/*.md`: taken as `**/auth/*.md`",
        ),
        ("path:*.rs request", "", "no document is at `*.rs`: paths are those that hits show"),
        ("path:lib/ request", "", "no document is at `lib/`: paths are those that hits show"),
        (
            "-path:lib/ request",
            "src/auth/login.md",
            "no document is at `lib/`, so that nothing is left out by it",
        ),
        ("lang:rust request", "", "no chunk passes the conditions of the filter and the query"),
        ("forty requests -server", "", ""),
    ] {
        for mode in [Mode::Lexical, Mode::Hybrid] {
            let request = SearchRequest { mode, ..of(&["notes"], query) };
            let answer = engine.search(&request).unwrap();
            let found = hits(&answer).first().map_or("", |hit| &hit.record.doc_id);
            if !first.is_empty() || !notice.is_empty() {
                assert_eq!(found, first, "{mode:?} {query}");
            }
            let said = answer.notices.iter().find(|notice| notice.code == NoticeCode::PartlyUsed);
            let said = said.map_or("", |notice| &notice.message);
            assert!(
                said.starts_with(notice) && (!notice.is_empty() || first.is_empty() || said.is_empty()),
                "{mode:?} {query}: {said}"
            );
        }
    }
    let error = engine.search(&of(&["notes"], "-server")).unwrap_err().to_string();
    assert_eq!(
        error,
        "the query has nothing to look for beside `-server`; add words that chunks should have"
    );
    // A path of one collection is no mistake.
    shelf.put("more", Some("m"), &[("lib/a.md", ENGLISH)]);
    let engine = shelf.engine(Some("m"));
    let answer = engine.search(&of(&["notes", "more"], "path:lib/ request")).unwrap();
    assert!(!codes(&answer).contains(&NoticeCode::PartlyUsed), "{:?}", answer.notices);
}

#[test]
fn a_question_about_something_else_finds_nothing_or_is_said_to_have_no_answer() {
    let text = "# State\n\nShare the state of handlers: wrap it in a lock, and lock it before each access to the state.\n";
    let shelf = Shelf::new();
    shelf.put("state", None, &[("state.md", text)]);
    shelf.put("other", None, &[("api.md", ENGLISH)]);
    let engine = shelf.engine(None);
    for (query, count, is_weak) in [
        ("lock the state of handlers", 1, false),
        ("lock", 1, false),
        ("terraform state locking", 1, true),
        ("kubernetes ingress annotations", 0, false),
        ("frobnicate_lock", 0, false),
    ] {
        for names in [&["state"][..], &["other", "state"]] {
            let answer = engine.search(&of(names, query)).unwrap();
            let says_so = codes(&answer).contains(&NoticeCode::ProbablyNoAnswer);
            assert_eq!((hits(&answer).len(), says_so), (count, is_weak), "{query} {:?}", answer.notices);
            // Who sets a threshold judges by it.
            let own = SearchRequest { min_relevance: Some(0.0), ..of(names, query) };
            assert!(!codes(&engine.search(&own).unwrap()).contains(&NoticeCode::ProbablyNoAnswer));
        }
    }
}

#[test]
fn of_the_next_hits_of_all_collections_the_most_relevant_is_next() {
    let (shelf, query) = (three(), "request запрос 请求");
    let engine = shelf.engine(None);
    let answer =
        engine.search(&SearchRequest { top_k: 50, ..of(&["русский", "english", "中文"], query) }).unwrap();
    for (index, hit) in hits(&answer).iter().enumerate() {
        // The first of each collection that comes later is no more relevant.
        for name in ["русский", "english", "中文"] {
            let next = hits(&answer)[index..].iter().find(|later| later.collection == name);
            assert!(next.is_none_or(|next| next.relevance <= hit.relevance), "{name}");
        }
    }
    for (index, hit) in hits(&answer).iter().enumerate() {
        assert_eq!(hit.rank, index + 1);
    }
    for (searched, name) in answer.collections.iter().zip(["русский", "english", "中文"]) {
        assert_eq!((searched.collection.as_str(), searched.mode), (name, Mode::Lexical));
        let alone = engine
            .collection(name)
            .search(&SearchRequest { top_k: 50, ..SearchRequest::new(query) })
            .unwrap();
        let alone: Vec<_> = hits(&alone).iter().map(|hit| hit.record.chunk_id).collect();
        let merged = hits(&answer).iter().filter(|hit| hit.collection == name);
        assert_eq!(
            merged.map(|hit| hit.record.chunk_id).collect::<Vec<_>>(),
            alone,
            "each keeps its own order"
        );
    }
    assert_eq!(engine.search(&all(query)).unwrap(), engine.search(&all(query)).unwrap());
    let twice = engine.search(&of(&["english", "english"], query)).unwrap();
    assert_eq!(twice, engine.search(&of(&["english"], query)).unwrap());
}

#[test]
fn pages_of_hits_are_one_page_of_all() {
    let shelf = three();
    let long: String =
        (0..60).map(|n| format!("# Part {n}\n\nA request of kind {n}, with number{n} words.\n\n")).collect();
    shelf.put("long", None, &[("long.md", &long), ("copy.md", ENGLISH)]);
    shelf.put("long-copy", None, &[("long.md", &long)]);
    let page =
        |offset, top_k| SearchRequest { offset, top_k, rerank: 5, ..all("request запрос 请求") };
    let ids = |answer: &SearchAnswer| -> Vec<_> {
        hits(answer).iter().map(|hit| (hit.rank, hit.collection.clone(), hit.record.chunk_id)).collect()
    };
    let engine = shelf.engine(None);
    let reranked = shelf.builder().reranker(Arc::new(Longest)).open(Access::Write).unwrap();
    for engine in [&engine, &reranked] {
        let whole = engine.search(&page(0, 60)).unwrap();
        assert!(hits(&whole).len() > 20);
        for size in [1, 3, 7, 20] {
            let mut read = Vec::new();
            for offset in (0..60).step_by(size) {
                read.extend(ids(&engine.search(&page(offset, size.min(60 - offset))).unwrap()));
            }
            assert_eq!(read, ids(&whole), "pages of {size}");
        }
    }
    assert!(engine.search(&page(190, 10)).unwrap().is_empty());
    for (offset, top_k) in [(190, 11), (usize::MAX, 5), (1, 1000)] {
        let error = engine.search(&page(offset, top_k)).unwrap_err();
        assert_eq!(error.code().name, "invalid_request");
        assert!(error.to_string().contains("a page must end at hit 200"), "{error}");
    }
    let error = engine.search(&page(5, 0)).unwrap_err();
    assert_eq!(error.to_string(), "`top_k` is `0`; it must be from 1 to 1000");
}

#[test]
fn equal_texts_of_several_collections_are_one_hit_that_names_the_others() {
    let shelf = Shelf::new();
    shelf.put("a", None, &[("one.md", ENGLISH)]);
    shelf.put("b", None, &[("two.md", ENGLISH), ("three.md", ENGLISH)]);
    let answer = shelf.engine(None).search(&all("request pause")).unwrap();
    let first = &hits(&answer)[0];
    assert_eq!((first.collection.as_str(), first.copies.len(), first.duplicates.len()), ("a", 2, 0));
    assert!(first.copies.iter().all(|copy| copy.collection == "b"));
    let texts: Vec<&str> = hits(&answer).iter().map(|hit| hit.record.content.as_str()).collect();
    assert!((1..texts.len()).all(|at| !texts[..at].contains(&texts[at])), "{texts:?}");
}

#[test]
fn a_filter_a_limit_per_document_and_an_expansion_hold_in_every_collection() {
    let shelf = three();
    let engine = shelf.engine(None);
    let query = "request запрос 请求";
    let filtered = SearchRequest { filter: Filter::parse("content~*分*").unwrap(), ..all(query) };
    assert_eq!(collections(&engine.search(&filtered).unwrap()), ["中文"]);
    let one_each = SearchRequest { per_document: Some(1), ..all(query) };
    assert_eq!(hits(&engine.search(&one_each).unwrap()).len(), 3);
    let expand = Some(ExpandRequest { with: Expand::Neighbours(1), max_tokens: None });
    let answer = engine.search(&SearchRequest { expand, ..one_each }).unwrap();
    let found = passages(&answer);
    let texts: Vec<(usize, &str, &str)> = found
        .iter()
        .map(|found| (found.rank, found.collection.as_str(), found.passage.text.as_str()))
        .collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    for (collection, text) in [("english", ENGLISH), ("中文", CHINESE), ("русский", RUSSIAN)] {
        assert!(
            texts.iter().any(|(_, of, passage)| *of == collection && text.contains(passage)),
            "{texts:?}"
        );
    }
}

#[test]
fn each_collection_degrades_by_itself() {
    let shelf = three();
    shelf.put("vectors", Some("bag"), &[("v.md", ENGLISH)]);
    shelf.0.begin("begun", &GenerationSpec::default()).unwrap();
    let engine = shelf.engine(None);
    let answer = engine.search(&all("request")).unwrap();
    let told = codes(&answer);
    assert_eq!(told.iter().filter(|code| **code == NoticeCode::StageSkipped).count(), 1, "{told:?}");
    assert_eq!(told.iter().filter(|code| **code == NoticeCode::Unfinished).count(), 1, "{told:?}");
    assert!(
        answer.notices.iter().any(|notice| notice.message.contains("collection `begun` has no chunks yet"))
    );
    assert!(answer.notices.iter().any(|notice| notice.message.starts_with("collection `vectors`: searched")));
    assert!(collections(&answer).contains(&"english"));

    // With the model, the others have no vectors, and only one can be searched by them.
    let engine = shelf.engine(Some("bag"));
    let answer = engine.search(&all("request")).unwrap();
    let modes = answer.collections.iter().map(|searched| (searched.collection.as_str(), searched.mode));
    assert!(
        modes.clone().any(|searched| searched == ("vectors", Mode::Hybrid)),
        "{:?}",
        modes.collect::<Vec<_>>()
    );
    let dense = SearchRequest { mode: Mode::Dense, ..all("request") };
    let answer = engine.search(&dense).unwrap();
    assert!(collections(&answer).iter().all(|collection| *collection == "vectors"));
    assert_eq!(codes(&answer).iter().filter(|code| **code == NoticeCode::CollectionSkipped).count(), 4);
    let error = engine
        .search(&SearchRequest { mode: Mode::Dense, ..of(&["english", "中文"], "request") })
        .unwrap_err();
    assert_eq!(error.code().name, "model_unavailable");
}

#[test]
fn vectors_of_one_model_are_compared_across_collections() {
    let shelf = Shelf::new();
    let boats = "# Boats\n\nA boat to the island leaves at nine.\n\n# Tickets\n\nTickets are sold on board of a boat.\n";
    shelf.put("a", Some("bag"), &[("weather.md", "# Weather\n\nRain is expected on the island today.\n")]);
    shelf.put("b", Some("bag"), &[("boats.md", boats)]);
    let engine = shelf.engine(Some("bag"));
    let request = |mode| SearchRequest { mode, ..all("boat tickets sold") };
    let answer = engine.search(&request(Mode::Dense)).unwrap();
    assert!(hits(&answer).windows(2).all(|pair| pair[0].score >= pair[1].score));
    assert_eq!(hits(&answer)[0].collection, "b");
    assert_eq!(
        hits(&engine.search(&request(Mode::Hybrid)).unwrap())[0].collection,
        "b",
        "equal ranks by dense score"
    );
}

#[test]
fn collections_that_are_missing_or_named_beside_all_are_errors() {
    let shelf = three();
    let engine = shelf.engine(None);
    let error = engine.search(&of(&["english", "englisch"], "request")).unwrap_err();
    assert_eq!(error.code().name, "unknown_collection");
    assert!(error.to_string().contains("`englisch`"), "{error}");
    let both = SearchRequest { all_collections: true, ..of(&["english"], "request") };
    assert!(matches!(engine.search(&both), Err(Error::NamedAndAll)));
    assert!(matches!(Shelf::new().engine(None).search(&all("request")), Err(Error::NoCollections)));
}

/// Tokens of the text of an answer.
fn tokens(answer: &SearchAnswer) -> usize {
    let texts: Vec<&str> = match &answer.found {
        Found::Hits { hits } => hits
            .iter()
            .flat_map(|hit| {
                [&hit.record.context, &hit.record.content, &hit.metadata.doc_toc, &hit.doc_summary]
            })
            .map(String::as_str)
            .collect(),
        Found::Passages { passages } => {
            passages.iter().flat_map(|found| [found.passage.text.as_str(), &found.doc_toc]).collect()
        }
    };
    texts.iter().map(|text| Words.count(text)).sum()
}

#[test]
fn the_text_of_an_answer_keeps_within_its_tokens_and_what_is_missing_is_listed() {
    let engine = three().engine(None);
    let expansions = [None, Some(Expand::Parent), Some(Expand::Merge), Some(Expand::Neighbours(2))];
    for expand in expansions.map(|with| Some(ExpandRequest { with: with?, max_tokens: None })) {
        let request = SearchRequest { expand, ..all("request запрос 请求") };
        let whole = engine.search(&request).unwrap();
        assert!(whole.budget.is_none());
        for most in 1..=tokens(&whole) + 5 {
            let answer = engine.search(&SearchRequest { max_tokens: Some(most), ..request.clone() }).unwrap();
            let budget = answer.budget.as_ref().unwrap();
            assert!(
                budget.tokens <= most && budget.tokens == tokens(&answer),
                "{most} {expand:?} {budget:?}"
            );
            let told = answer.notices.iter().find(|notice| notice.code == NoticeCode::OverBudget);
            assert_eq!(told.is_none(), budget.left_out.is_empty());
            let mut ranks: Vec<usize> = budget.left_out.iter().map(|left_out| left_out.rank).collect();
            match &answer.found {
                Found::Hits { hits } => ranks.extend(hits.iter().map(|hit| hit.rank)),
                Found::Passages { passages } => ranks.extend(passages.iter().map(|found| found.rank)),
            }
            ranks.sort_unstable();
            assert_eq!(ranks, (1..=ranks.len()).collect::<Vec<_>>(), "every hit is there or listed");
            if expand.is_none() {
                assert_eq!(ranks.len(), hits(&whole).len());
            }
            if most > tokens(&whole) && expand.is_none() {
                assert!(budget.left_out.is_empty());
            }
        }
    }
}

#[test]
fn an_answer_without_room_for_any_hit_says_how_long_the_best_is() {
    let engine = three().engine(None);
    let request = SearchRequest { max_tokens: Some(3), ..of(&["english"], "request") };
    let answer = engine.search(&request).unwrap();
    assert!(answer.is_empty());
    let told = &answer.notices.last().unwrap().message;
    assert!(told.contains("each of more than 3 tokens") && told.contains("`api.md#L1-L3` with "), "{told}");
    let none = SearchRequest { max_tokens: Some(0), ..request };
    assert_eq!(engine.search(&none).unwrap_err().to_string(), "`max_tokens` is `0`; it must be at least 1");
}

#[test]
fn a_hit_has_its_content_once_a_preview_and_the_metadata_of_its_file() {
    let shelf = Shelf::new();
    let text = "# Limits\n\n## Requests\n\nThe server accepts forty requests\nin a minute.\n";
    shelf.put("docs", None, &[("api/v1/limits.md", text)]);
    let engine = shelf.engine(None);
    let request = of(&["docs"], "forty requests");
    let json = |request: &SearchRequest| {
        let answer = serde_json::to_value(engine.search(request).unwrap()).unwrap();
        answer["hits"][0].clone()
    };
    let hit = json(&request);
    assert_eq!(hit["content"], text.trim_end());
    assert_eq!(hit["content_preview"], "# Limits ## Requests The server accepts forty requests in a minute.");
    let metadata = json!({
        "file_path": "api/v1/limits.md",
        "relative_path": "api/v1/limits.md",
        "file_name": "limits.md",
        "path_hierarchy": ["api", "v1"],
        "category": "doc",
        "chunk_index": 0,
        "total_chunks": 1,
        "chunk_type": "doc",
        "section_path": hit["section_path"],
        "doc_toc": "Limits\n  Requests\n",
    });
    assert_eq!(hit["metadata"], metadata);
    assert!(hit.get("text").is_none() && hit.get("doc_toc").is_none(), "{hit}");
    assert_eq!(json(&SearchRequest { text: true, ..request })["text"], text.trim_end());
}

#[test]
fn of_a_page_in_several_languages_only_the_best_is_a_hit_on_request() {
    let shelf = Shelf::new();
    let other = "# Other\n\nAnother page, which answers a request of its own in English only.\n";
    shelf.put(
        "docs",
        None,
        &[
            ("docs/en/api.md", ENGLISH),
            ("docs/ru/api.md", RUSSIAN),
            ("i18n/zh-CN/docs/api.md", CHINESE),
            ("docs/en/other.md", other),
        ],
    );
    // Another project, whose page of that name is no translation.
    shelf.put(
        "more",
        None,
        &[("docs/ru/api.md", "# Ещё\n\nСтраница другого проекта: запрос request и ответ на него.\n")],
    );
    let engine = shelf.engine(None);
    let request = all("request запрос 请求 сервер 服务器 server");
    let documents = |answer: &SearchAnswer| -> Vec<(String, String)> {
        let of = |hit: &Hit| (hit.collection.clone(), hit.record.doc_id.clone());
        let mut documents: Vec<_> = hits(answer).iter().map(of).collect();
        documents.sort();
        documents.dedup();
        documents
    };
    let whole = engine.search(&request).unwrap();
    assert_eq!(documents(&whole).len(), 5);
    let collapse = |offset, top_k| {
        let collapse_translations = true;
        engine.search(&SearchRequest { collapse_translations, offset, top_k, ..request.clone() }).unwrap()
    };
    let answer = collapse(0, 50);
    assert_eq!(documents(&answer).len(), 3, "{:?}", documents(&answer));
    let is_page = |hit: &&Hit| hit.collection == "docs" && hit.record.doc_id.ends_with("api.md");
    let first = hits(&answer).iter().find(is_page).unwrap();
    let best = hits(&whole).iter().find(is_page).unwrap();
    assert_eq!(first.record.chunk_id, best.record.chunk_id, "the best stays");
    let named = first.translations.iter().map(|translation| translation.chunk_id);
    let left: Vec<_> = hits(&answer).iter().map(|hit| hit.record.chunk_id).chain(named).collect();
    assert!(hits(&whole).iter().all(|hit| left.contains(&hit.record.chunk_id)), "each is a hit or named");
    let (one, two) = (collapse(0, 2), collapse(2, 2));
    let paged: Vec<_> = hits(&one).iter().chain(hits(&two)).map(|hit| hit.record.chunk_id).collect();
    let together: Vec<_> = hits(&answer).iter().take(4).map(|hit| hit.record.chunk_id).collect();
    assert_eq!(paged, together);
}

#[test]
fn a_question_in_another_language_is_asked_in_the_words_of_the_documents() {
    let shelf = three();
    let engine = shelf.engine(None);
    let questions = [
        ("english", "how many requests does the server accept", "forty"),
        ("中文", "服务器最多接受多少请求", "四十"),
        ("русский", "сколько запросов принимает сервер", "сорок"),
    ];
    for (own, question, _) in questions {
        for (collection, _, answer) in questions {
            for mode in [Mode::Hybrid, Mode::Lexical] {
                let request = SearchRequest { mode, ..of(&[collection], question) };
                let found = engine.search(&request).unwrap();
                let first = &hits(&found)[0].record;
                assert!(first.content.contains(answer), "{question} in {collection}: {}", first.content);
                let is_said = codes(&found).contains(&NoticeCode::OtherLanguage);
                assert_eq!(is_said, own != collection, "{question}: {:?}", found.notices);
                // Pages follow one another, and each hit is explained as it was found.
                let snapshot = engine.collection(collection).snapshot().unwrap();
                for (at, hit) in hits(&found).iter().enumerate() {
                    let one =
                        engine.search(&SearchRequest { top_k: 1, offset: at, ..request.clone() }).unwrap();
                    assert_eq!(
                        hits(&one)[0].record.chunk_id,
                        hit.record.chunk_id,
                        "{question} in {collection}"
                    );
                    let why = snapshot.explain_search(&request, &hit.record.chunk_id.to_string()).unwrap();
                    assert_eq!(why.verdict, Verdict::Found { rank: at + 1 }, "{question} in {collection}");
                }
            }
        }
    }
    // It is said once of several collections.
    shelf.put("more", None, &[("more.md", ENGLISH)]);
    let found = engine.search(&of(&["english", "more"], questions[1].1)).unwrap();
    let said: Vec<_> =
        found.notices.iter().filter(|notice| notice.code == NoticeCode::OtherLanguage).collect();
    assert!(said.len() == 1 && said[0].message.contains("asked for `server"), "{said:?}");
}

#[test]
fn a_question_is_asked_as_it_is_where_documents_are_in_its_language_too_or_it_consists_of_names() {
    let shelf = Shelf::new();
    shelf.put("both", None, &[("en.md", ENGLISH), ("zh.md", CHINESE)]);
    shelf.put("中文", None, &[("api.md", CHINESE)]);
    let engine = shelf.engine(None);
    for (collection, query) in [
        ("both", "服务器最多接受多少请求"),
        ("both", "сколько запросов"),
        ("中文", "kubectl"),
        ("中文", ".eslintrc extends"),
    ] {
        let found = engine.search(&of(&[collection], query)).unwrap();
        let is_said = found.notices.iter().any(|notice| notice.message.contains("asked for"));
        assert_eq!(is_said, query.starts_with("ско"), "{query}: {:?}", found.notices);
    }
    // What is added and what is replaced is seen.
    let is_other = |engine: &Engine, collection| {
        let found = engine.search(&of(&[collection], "how many requests does the server accept")).unwrap();
        codes(&found).contains(&NoticeCode::OtherLanguage)
    };
    assert!(is_other(&engine, "中文"));
    shelf.put("中文", None, &[("en.md", ENGLISH)]);
    assert!(!is_other(&engine, "中文"));
    shelf.put("中文", None, &[("en.md", CHINESE)]);
    assert!(is_other(&engine, "中文"));
    // A translation in a repository is not its language.
    let code: Vec<(String, String)> = (0..120)
        .map(|number| {
            (format!("src/{number}.rs"), format!("/// Accepts requests.\npub fn accept_{number}() {{}}\n"))
        })
        .collect();
    let code = code.iter().map(|(name, text)| (&**name, &**text));
    let many: Vec<(&str, &str)> = [("README.zh.md", CHINESE)].into_iter().chain(code).collect();
    shelf.put("repository", None, &many);
    assert!(!is_other(&engine, "repository"));
    shelf.put(
        "repository",
        None,
        &[("README.md", ENGLISH), ("docs/api.md", CHINESE), ("docs/zh.md", CHINESE)],
    );
    assert!(!is_other(&engine, "repository"));
    // A document without chunks, which no export has, changes nothing.
    let is_english = |number: u32| number % 4 == 3;
    let text = |number| if is_english(number) { ENGLISH } else { CHINESE };
    let mut documents: Vec<(String, &str)> =
        (0..16).map(|number| (format!("{number:02}.md"), text(number))).collect();
    for empty in [None, Some("0.md"), Some("08-.md"), Some("a.md")] {
        documents.extend(empty.map(|name| (name.to_owned(), "")));
        let few: Vec<(&str, &str)> = documents.iter().map(|(name, text)| (&**name, *text)).collect();
        let shelf = Shelf::new();
        shelf.put("few", None, &few);
        assert!(!is_other(&shelf.engine(None), "few"), "{empty:?}");
    }
}
