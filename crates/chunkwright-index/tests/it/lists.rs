//! Lists of chunks, statistics and single documents: every store's results agree with its own records.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use chunkwright::stats::{Distribution, optimal_ratio};
use chunkwright::{ChunkId, Record};
use chunkwright_index::{
    ChunkPage, ChunkPlace, Cursor, Direction, Filter, ListRequest, ListedChunk, MAX_PAGE, MOST_RANGES,
    RepeatedText, RepeatedTexts, SortKey, Statistics, StatisticsRequest, StoreError, TOKEN_RANGES,
    Visibility, amend,
};

use crate::fixture::{Fixture, for_each_store, now};
use crate::stride::one_in;

/// Numbers that look like chance and are the same every time.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `most`.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// A paragraph that is a chunk of its own.
fn paragraph(number: usize) -> String {
    let words = match number % 3 {
        0 => "A paragraph of words about storage engines. ".repeat(4 + number % 2),
        1 => "Абзац о хранилищах и запросах к ним. ".repeat(4 + number % 3),
        _ => "关于存储引擎与查询的一段说明文字，写得足够长。".repeat(6 + number % 3),
    };
    format!("Number {number}. {words}")
}

fn text(numbers: &[usize]) -> String {
    numbers.iter().map(|number| paragraph(*number)).collect::<Vec<_>>().join("\n\n")
}

/// Documents in three languages and of several lengths, source code with summaries, and overlays.
fn corpus(kind: &str) -> Fixture {
    let mut fixture = Fixture::new(kind, &[]);
    fixture.pipeline = fixture.pipeline.with_summaries(true);
    for (at, count) in [1, 7, 0, 2, 12, 3, 1, 5].into_iter().enumerate() {
        let folder = ["docs", "описание", "说明"][at % 3];
        let numbers: Vec<usize> = (0..count).map(|n| 100 * at + n).collect();
        fixture.write(format!("{folder}/{at}.md"), text(&numbers).as_bytes());
    }
    let function = |n: usize| format!("def f{n}(x):\n    \"\"\"Adds {n}.\"\"\"\n    return x + {n}\n\n\n");
    fixture.write("src/a.py", (0..12).map(function).collect::<String>().as_bytes());
    fixture.index();
    for (number, chunk) in all(&fixture).iter().enumerate() {
        if chunk.record.language.is_none() && number % 4 == 0 {
            hand(&fixture, &chunk.record, number % 8 == 0);
        }
    }
    fixture
}

/// Disables a chunk, or enables it, or gives it another text.
fn hand(fixture: &Fixture, record: &Record, disable: bool) {
    let (store, id) = (&*fixture.store, record.chunk_id);
    let result = amend(store, &now(store), Some(&*fixture.bag), None, id, &|overlay| {
        if disable {
            overlay.disabled = !overlay.disabled;
        } else {
            overlay.text = Some(format!("{} Edited by hand.", record.text));
        }
    });
    result.unwrap();
}

/// All chunks as other methods of the store tell them, in the order of documents.
fn all(fixture: &Fixture) -> Vec<ListedChunk> {
    let (store, generation) = (&*fixture.store, now(&*fixture.store));
    let mut all = Vec::new();
    for info in store.documents(&generation).unwrap() {
        let records = store.records(&generation, &info.doc_id).unwrap();
        let ids: Vec<_> = records.iter().map(|record| record.chunk_id).collect();
        for chunk in store.chunks(&generation, &ids).unwrap() {
            let chunk = chunk.unwrap();
            all.push(ListedChunk::from(&*chunk));
        }
    }
    all
}

const FILTERS: [&str; 9] = [
    "",
    "doc_id~docs/**",
    "token_count>=30",
    "token_count>20 and category=doc",
    "token_level=normal and not doc_id^=описание/",
    "start_line>5",
    "content_type=function",
    "symbol=f3 or chunk_index<2",
    "category=nothing",
];

fn filter(text: &str) -> Filter {
    if text.is_empty() { Filter::default() } else { Filter::parse(text).unwrap() }
}

fn shows(visibility: Visibility, chunk: &ListedChunk) -> bool {
    match visibility {
        Visibility::All => true,
        Visibility::Enabled => chunk.enabled,
        Visibility::Disabled => !chunk.enabled,
    }
}

/// What is listed, by the plainest means.
fn expected(mut chunks: Vec<ListedChunk>, request: &ListRequest) -> Vec<ListedChunk> {
    chunks.retain(|chunk| request.filter.passes_record(&chunk.record) && shows(request.visibility, chunk));
    let is_descending = request.direction == Direction::Descending;
    match request.sort {
        SortKey::Document if is_descending => chunks.reverse(),
        SortKey::Document => {}
        sort => chunks.sort_by_key(|chunk| {
            let Record { token_count, chunk_index, .. } = chunk.record;
            let key = i64::from(if sort == SortKey::TokenCount { token_count } else { chunk_index });
            if is_descending { -key } else { key }
        }),
    }
    chunks
}

fn list(fixture: &Fixture, request: &ListRequest) -> ChunkPage {
    fixture.store.list(&now(&*fixture.store), request).unwrap()
}

/// All pages, between which `between` is called.
fn walk(fixture: &Fixture, request: &ListRequest, mut between: impl FnMut()) -> Vec<ListedChunk> {
    let mut request = request.clone();
    let mut chunks = Vec::new();
    loop {
        let page = list(fixture, &request);
        assert!(page.chunks.len() <= request.limit.clamp(1, MAX_PAGE));
        assert!(page.next.is_none() || page.chunks.len() == request.limit, "a page before the last is full");
        chunks.extend(page.chunks);
        let Some(next) = page.next else { return chunks };
        request.after = Some(next);
        between();
    }
}

fn any_request(dice: &mut Dice) -> ListRequest {
    ListRequest {
        filter: filter(dice.one_of(&FILTERS)),
        visibility: dice.one_of(&[
            Visibility::All,
            Visibility::All,
            Visibility::Enabled,
            Visibility::Disabled,
        ]),
        sort: dice.one_of(&[SortKey::Document, SortKey::Document, SortKey::TokenCount, SortKey::ChunkIndex]),
        direction: dice.one_of(&[Direction::Ascending, Direction::Descending]),
        after: None,
        skip: 0,
        limit: 1 + dice.below(9),
    }
}

#[test]
fn pages_together_hold_each_chunk_once_in_every_order() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let chunks = all(&fixture);
        assert!(chunks.len() > 30 && chunks.iter().any(|chunk| !chunk.enabled), "{kind}");
        let mut dice = Dice::new(1);
        for _ in 0..60 {
            let request = any_request(&mut dice);
            let found = walk(&fixture, &request, || {});
            let expected = expected(chunks.clone(), &request);
            assert_eq!(found, expected, "{kind} {request:?}");
            // A page in the middle, from where the list goes on by its cursor.
            let skip = dice.below(expected.len() + 3);
            let rest = &expected[skip.min(expected.len())..];
            let page = list(&fixture, &ListRequest { skip, ..request.clone() });
            assert_eq!(page.chunks, rest[..rest.len().min(request.limit)], "{kind} {skip} {request:?}");
            assert_eq!(page.next.is_some(), rest.len() > request.limit, "{kind} {skip} {request:?}");
            if let Some(next) = page.next {
                let (after, skip) = (Some(next), 1);
                let found = list(&fixture, &ListRequest { after, skip, ..request.clone() }).chunks;
                let rest = rest.iter().skip(request.limit + 1).take(request.limit);
                assert!(found.iter().eq(rest), "{kind} {request:?}");
            }
        }
        let whole = ListRequest { limit: usize::MAX, ..ListRequest::default() };
        assert_eq!(list(&fixture, &whole), ChunkPage { chunks, next: None }, "{kind}");
        assert_eq!(list(&fixture, &ListRequest { limit: 0, ..whole }).chunks.len(), 1, "{kind}");
    });
}

#[test]
fn summaries_are_listed_behind_the_chunks_of_their_document_where_they_are_asked_for() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        for direction in [Direction::Ascending, Direction::Descending] {
            for sort in [SortKey::Document, SortKey::ChunkIndex] {
                let filter = filter("artifact=all and doc_id~src/**");
                let request = ListRequest { filter, sort, direction, limit: 4, ..ListRequest::default() };
                let mut found = walk(&fixture, &request, || {});
                if direction == Direction::Descending {
                    found.reverse();
                }
                let is_summary: Vec<bool> =
                    found.iter().map(|chunk| chunk.record.artifact.is_some()).collect();
                assert!(is_summary.is_sorted() && is_summary.contains(&true), "{kind} {is_summary:?}");
                let ids: HashSet<_> = found.iter().map(|chunk| &chunk.record.chunk_id).collect();
                assert_eq!(ids.len(), found.len(), "{kind}");
            }
        }
        let filter = filter("artifact=summary");
        let counted = statistics(&fixture, filter.clone(), None).chunks;
        let listed = walk(&fixture, &ListRequest { filter, ..ListRequest::default() }, || {}).len();
        assert!(counted > 10 && counted == listed, "{kind} {counted} {listed}");
    });
}

fn statistics(fixture: &Fixture, filter: Filter, band: Option<[usize; 2]>) -> Statistics {
    let request = StatisticsRequest { filter, band, ranges: Vec::new() };
    fixture.store.statistics(&now(&*fixture.store), &request).unwrap()
}

/// The texts that several chunks have, by the plainest means.
fn repeated(chunks: &[ListedChunk]) -> RepeatedTexts {
    let with = |text: &str| -> Vec<&Record> {
        chunks.iter().map(|chunk| &chunk.record).filter(|record| record.text == text).collect()
    };
    let mut groups: Vec<Vec<&Record>> = Vec::new();
    for chunk in chunks {
        if !groups.iter().any(|group| group[0].text == chunk.record.text) {
            groups.push(with(&chunk.record.text));
        }
    }
    groups.retain(|group| group.len() > 1);
    groups.sort_by_key(|group| Reverse(group.len()));
    let place = |record: &&Record| ChunkPlace { chunk_id: record.chunk_id, doc_id: record.doc_id.clone() };
    let named = |group: &Vec<&Record>| RepeatedText {
        chunks: group.len(),
        some: group.iter().take(5).map(place).collect(),
    };
    RepeatedTexts {
        chunks: groups.iter().map(Vec::len).sum(),
        texts: groups.len(),
        most: groups.iter().take(10).map(named).collect(),
    }
}

/// Statistics by the plainest means.
fn counted(chunks: &[ListedChunk], band: Option<[usize; 2]>) -> Statistics {
    let by = |value: &dyn Fn(&Record) -> Option<String>| {
        let mut counts = BTreeMap::new();
        for value in chunks.iter().filter_map(|chunk| value(&chunk.record)) {
            *counts.entry(value).or_insert(0) += 1;
        }
        counts
    };
    let tokens: Vec<usize> = chunks.iter().map(|chunk| chunk.record.token_count as usize).collect();
    let documents: HashSet<&str> = chunks.iter().map(|chunk| chunk.record.doc_id.as_str()).collect();
    let mut expected = Statistics {
        documents: documents.len(),
        chunks: chunks.len(),
        enabled: chunks.iter().filter(|chunk| chunk.enabled).count(),
        disabled: chunks.iter().filter(|chunk| !chunk.enabled).count(),
        strategy_versions: by(&|record| Some(record.strategy_version.clone())),
        content_types: by(&|record| Some(record.content_type.clone())),
        chunk_types: by(&|record| Some(record.chunk_type.clone())),
        languages: by(&|record| record.language.clone()),
        categories: by(&|record| Some(record.category.clone())),
        cuts: by(&|record| Some(record.cut.to_string())),
        repeated: repeated(chunks),
        band,
        optimal_ratio: band.map(|band| optimal_ratio(&tokens, band)),
        ..Statistics::default()
    };
    let levels = by(&|record| Some(serde_json::to_string(&record.token_level).unwrap()));
    for level in ["normal", "warning", "large", "oversized"] {
        let quoted = format!("\"{level}\"");
        let count = levels.get(&quoted).copied().unwrap_or_default();
        expected.levels.insert(serde_json::from_str(&quoted).unwrap(), count);
    }
    for (at, from) in TOKEN_RANGES.into_iter().enumerate() {
        let next = TOKEN_RANGES.get(at + 1).copied();
        let is_in = |tokens: &&usize| **tokens >= from && next.is_none_or(|next| **tokens < next);
        let chunks = tokens.iter().filter(is_in).count();
        let to = next.map(|next| next - 1);
        expected.token_histogram.push(chunkwright_index::TokenRange { from, to, chunks });
    }
    expected.tokens = Distribution::of(tokens);
    expected
}

#[test]
fn statistics_are_those_of_the_records_before_and_after_writes() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let check = || {
            let chunks = all(&fixture);
            for text in FILTERS {
                let filter = filter(text);
                let mut passing = chunks.clone();
                passing.retain(|chunk| filter.passes_record(&chunk.record));
                for band in [None, Some([20, 40])] {
                    let found = statistics(&fixture, filter.clone(), band);
                    assert_eq!(found, counted(&passing, band), "{kind} {text}");
                    let json = serde_json::to_string(&found).unwrap();
                    let read: Statistics = serde_json::from_str(&json).unwrap();
                    // A fraction may lose its last digit on the way.
                    let (tokens, optimal_ratio) = (found.tokens, found.optimal_ratio);
                    assert_eq!(Statistics { tokens, optimal_ratio, ..read }, found);
                }
            }
        };
        check();
        fixture.write("docs/copy.md", text(&[100, 101, 102, 100]).as_bytes());
        fixture.write("说明/copy.md", text(&[100, 900]).as_bytes());
        fixture.index();
        let found = statistics(&fixture, Filter::default(), None).repeated;
        assert!(found.texts >= 2 && found.chunks >= 5, "{kind} {found:?}");
        check();
        fixture.write("docs/0.md", text(&[1, 2, 900]).as_bytes());
        fixture.remove("описание/1.md");
        fixture.write("new.md", text(&[901]).as_bytes());
        fixture.index();
        hand(&fixture, &all(&fixture)[1].record, true);
        check();
    });
}

#[test]
fn the_ranges_of_a_histogram_are_those_asked_for() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let tokens: Vec<usize> = all(&fixture).iter().map(|it| it.record.token_count as usize).collect();
        let ask = |ranges: Vec<usize>| {
            let request = StatisticsRequest { ranges, ..StatisticsRequest::default() };
            fixture.store.statistics(&now(&*fixture.store), &request).unwrap().token_histogram
        };
        for wanted in [vec![0, 10, 20, 30], vec![30, 10, 10], vec![1_000_000], (0..1000).collect()] {
            let ranges = ask(wanted.clone());
            assert!(ranges.len() <= MOST_RANGES && ranges[0].from == 0, "{kind} {wanted:?}");
            assert_eq!(ranges.iter().map(|range| range.chunks).sum::<usize>(), tokens.len(), "{kind}");
            for (at, range) in ranges.iter().enumerate() {
                assert_eq!(range.to, ranges.get(at + 1).map(|next| next.from - 1), "{kind}");
                let is_in = |count: &&usize| **count >= range.from && range.to.is_none_or(|to| **count <= to);
                assert_eq!(range.chunks, tokens.iter().filter(is_in).count(), "{kind} {range:?}");
                assert!(at == 0 || wanted.contains(&range.from), "{kind} {range:?}");
            }
        }
        assert_eq!(ask(Vec::new()).len(), TOKEN_RANGES.len());
    });
}

/// Something is written.
fn any_write(fixture: &Fixture, dice: &mut Dice, numbers: &mut BTreeMap<String, Vec<usize>>) {
    let name = format!("docs/{}.md", dice.below(9));
    let fresh = 10_000 + dice.below(1_000_000);
    let known = numbers.entry(name.clone()).or_default();
    match dice.below(6) {
        0 | 1 => known.insert(dice.below(known.len() + 1), fresh),
        2 if !known.is_empty() => drop(known.remove(dice.below(known.len()))),
        3 if !known.is_empty() => {
            let at = dice.below(known.len());
            known[at] = fresh;
        }
        _ => {
            let chunks = all(fixture);
            if !chunks.is_empty() {
                let disable = dice.below(2) == 0;
                hand(fixture, &chunks[dice.below(chunks.len())].record, disable);
            }
            return;
        }
    }
    fixture.write(&name, text(known).as_bytes());
    fixture.try_index().unwrap();
}

#[test]
fn no_chunk_that_stays_where_it_is_in_the_order_is_skipped_or_repeated_by_writes_between_pages() {
    for_each_store(|kind| {
        let fixture = Fixture::new(kind, &[]);
        let mut dice = Dice::new(2);
        let mut numbers: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for at in 0..6 {
            let own: Vec<usize> = (0..=2 * at).map(|n| 50 * at + n).collect();
            fixture.write(format!("docs/{at}.md"), text(&own).as_bytes());
            numbers.insert(format!("docs/{at}.md"), own);
        }
        fixture.index();
        let rounds = if ["sqlite", "memory"].contains(&kind) { 18 / one_in(3) } else { 1 };
        for round in 0..rounds {
            let request = any_request(&mut dice);
            let request = ListRequest { filter: Filter::default(), limit: 1 + dice.below(5), ..request };
            // What each chunk was sorted by, at every moment.
            let seen = |fixture: &Fixture| -> HashMap<ChunkId, (u32, bool)> {
                let key = |chunk: &ListedChunk| match request.sort {
                    SortKey::Document => 0,
                    SortKey::TokenCount => chunk.record.token_count,
                    SortKey::ChunkIndex => chunk.record.chunk_index,
                };
                let state = |chunk: ListedChunk| {
                    (chunk.record.chunk_id, (key(&chunk), shows(request.visibility, &chunk)))
                };
                all(fixture).into_iter().map(state).collect()
            };
            let mut stayed = seen(&fixture);
            let found = walk(&fixture, &request, || {
                any_write(&fixture, &mut dice, &mut numbers);
                let now = seen(&fixture);
                stayed.retain(|id, state| now.get(id) == Some(state));
            });
            let mut times: HashMap<ChunkId, usize> = HashMap::new();
            for chunk in &found {
                *times.entry(chunk.record.chunk_id).or_default() += 1;
            }
            for (id, (_, is_shown)) in &stayed {
                let times = times.get(id).copied().unwrap_or_default();
                assert_eq!(times, usize::from(*is_shown), "{kind} {round} {request:?} {id}");
            }
        }
    });
}

#[test]
fn a_cursor_of_another_list_and_a_malformed_one_are_refused() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let first = ListRequest { limit: 3, ..ListRequest::default() };
        let next = list(&fixture, &first).next.unwrap();
        assert!(next.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
        let with = |change: &dyn Fn(&mut ListRequest)| {
            let mut request = ListRequest { after: Some(next.clone()), ..first.clone() };
            change(&mut request);
            fixture.store.list(&now(&*fixture.store), &request)
        };
        assert_eq!(with(&|request| request.limit = 5).unwrap().chunks.len(), 5, "the limit may differ");
        let others: [&dyn Fn(&mut ListRequest); 4] = [
            &|request| request.filter = filter("category=doc"),
            &|request| request.visibility = Visibility::Enabled,
            &|request| request.sort = SortKey::TokenCount,
            &|request| request.direction = Direction::Descending,
        ];
        for other in others {
            let error = with(other).unwrap_err();
            assert!(matches!(error, StoreError::OtherCursor { .. }), "{kind} {error}");
            assert!(error.to_string().contains("start without a cursor"), "{error}");
        }
        for text in ["", "x", "e30", "\0", "имя", &next.as_str()[1..]] {
            let error = with(&|request| request.after = Some(Cursor::new(text))).unwrap_err();
            assert!(matches!(error, StoreError::MalformedCursor { .. }), "{kind} {text:?} {error}");
        }
        // Cut otherwise, its chunks are in another generation.
        let old = now(&*fixture.store);
        let other = chunkwright_index::Pipeline::new(
            fixture.store.clone(),
            "test",
            crate::fixture::chunker(),
            "test",
        );
        other.index(&[fixture.root()], &fixture.options, &|_| {}).unwrap();
        assert!(matches!(with(&|_| {}), Err(StoreError::OtherCursor { .. })), "{kind}");
        let request = ListRequest { after: Some(next.clone()), ..first.clone() };
        assert_eq!(fixture.store.list(&old, &request).unwrap().chunks.len(), 3, "{kind}");
        fixture.store.remove(&old).unwrap();
        let error = fixture.store.list(&old, &request).unwrap_err();
        assert!(matches!(error, StoreError::UnknownGeneration { .. }), "{kind} {error}");
        let error = fixture.store.statistics(&old, &StatisticsRequest::default()).unwrap_err();
        assert!(matches!(error, StoreError::UnknownGeneration { .. }), "{kind} {error}");
    });
}

#[test]
fn what_is_known_about_one_document_is_what_the_list_of_documents_says() {
    for_each_store(|kind| {
        let fixture = corpus(kind);
        let generation = now(&*fixture.store);
        for info in fixture.store.documents(&generation).unwrap() {
            assert_eq!(fixture.store.document_info(&generation, &info.doc_id).unwrap(), Some(info), "{kind}");
        }
        assert_eq!(fixture.store.document_info(&generation, "docs").unwrap(), None, "{kind}");
        fixture.store.remove(&generation).unwrap();
        let error = fixture.store.document_info(&generation, "docs/0.md").unwrap_err();
        assert!(matches!(error, StoreError::UnknownGeneration { .. }), "{kind} {error}");
    });
}

#[test]
fn requests_are_json_with_every_field_optional() {
    let request: ListRequest = serde_json::from_str(
        r#"{"filter": {"field": "category", "is": "doc"}, "sort": "token_count", "direction": "descending", "visibility": "disabled", "limit": 5}"#,
    )
    .unwrap();
    let expected = ListRequest {
        filter: filter("category=doc"),
        sort: SortKey::TokenCount,
        direction: Direction::Descending,
        visibility: Visibility::Disabled,
        limit: 5,
        after: None,
        skip: 0,
    };
    assert_eq!(request, expected);
    assert_eq!(serde_json::from_str::<ListRequest>("{}").unwrap(), ListRequest::default());
    assert!(serde_json::from_str::<ListRequest>(r#"{"limits": 5}"#).is_err());
}
