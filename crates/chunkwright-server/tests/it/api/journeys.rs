//! From an upload to a deletion, in three languages.

use serde_json::{Value, json};

use super::server::{Served, encoded};

/// A language's documents, a question, the document that answers it and a sentence that the question is about.
struct Journey {
    collection: &'static str,
    documents: &'static [(&'static str, &'static str)],
    question: &'static str,
    answer: &'static str,
}

const JOURNEYS: [Journey; 3] = [
    Journey {
        collection: "english",
        documents: &[
            ("kitchen/bread.md", include_str!("../../../../../examples/corpus/en/bread.md")),
            ("garden/beekeeping.md", include_str!("../../../../../examples/corpus/en/beekeeping.md")),
            (
                "workshop/bicycle-repair.md",
                include_str!("../../../../../examples/corpus/en/bicycle-repair.md"),
            ),
        ],
        question: "how is a puncture of a bicycle tyre patched?",
        answer: "workshop/bicycle-repair.md",
    },
    Journey {
        collection: "中文",
        documents: &[
            ("厨房/绿茶.md", include_str!("../../../../../examples/corpus/zh/green-tea.md")),
            ("厨房/馒头.md", include_str!("../../../../../examples/corpus/zh/steamed-bread.md")),
            ("港口/渡轮.md", include_str!("../../../../../examples/corpus/zh/ferry-harbour.md")),
        ],
        question: "绿茶用多少度的水冲泡",
        answer: "厨房/绿茶.md",
    },
    Journey {
        collection: "русский",
        documents: &[
            ("кухня/ржаной хлеб.md", include_str!("../../../../../examples/corpus/ru/rye-bread.md")),
            ("дом/печь.md", include_str!("../../../../../examples/corpus/ru/stove.md")),
            ("сад/пасека.md", include_str!("../../../../../examples/corpus/ru/beekeeping.md")),
        ],
        question: "закваска для ржаного хлеба",
        answer: "кухня/ржаной хлеб.md",
    },
];

#[test]
fn a_collection_lives_from_an_upload_to_its_deletion_in_english_chinese_and_russian() {
    let served = Served::new();
    for journey in JOURNEYS {
        check(&served, &journey);
    }
}

fn check(served: &Served, journey: &Journey) {
    let Journey { collection, documents, question, answer } = *journey;
    let at = |rest: &str| format!("/api/v1/collections/{}{rest}", encoded(collection));
    let stored = served.put(collection, documents);
    let states: Vec<&Value> = stored["documents"].as_array().unwrap().iter().map(|it| &it["state"]).collect();
    assert_eq!(states, vec!["stored"; documents.len()], "{stored}");
    let again = served.put(collection, documents);
    assert!(again["documents"].as_array().unwrap().iter().all(|it| it["state"] == "unchanged"), "{again}");

    // The source is the one that came, byte for byte.
    let source = served.get(&at(&format!("/documents/{}/source", encoded(answer))));
    let (_, text) = documents.iter().find(|(doc_id, _)| *doc_id == answer).unwrap();
    assert_eq!(source.text(), *text);

    // Every chunk is on exactly one page, and the pages hold the whole text of the documents.
    let mut chunks: Vec<Value> = Vec::new();
    let mut next = String::new();
    loop {
        let page = served.get(&at(&format!("/chunks?limit=2{next}"))).expect(200);
        chunks.extend(page["chunks"].as_array().unwrap().clone());
        match page["next"].as_str() {
            Some(cursor) => next = format!("&cursor={cursor}"),
            None => break,
        }
    }
    let total = served.get(&at("/statistics")).expect(200)["chunks"].as_u64().unwrap();
    assert_eq!(chunks.len() as u64, total);
    for (doc_id, text) in documents {
        let of_it = chunks.iter().filter(|chunk| chunk["doc_id"] == *doc_id);
        let content: String = of_it.map(|chunk| chunk["content"].as_str().unwrap()).collect();
        let visible = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        assert_eq!(visible(&content), visible(text), "{doc_id}");
    }

    // A chunk that is disabled is not found, and is found again when it is enabled.
    let search = json!({ "query": question, "collections": [collection], "per_document": 1 });
    let best = served.post("/api/v1/search", &search).expect(200)["hits"][0].clone();
    assert_eq!(best["doc_id"], answer, "{best}");
    let chunk = best["chunk_id"].as_str().unwrap();
    let one = at(&format!("/chunks/{chunk}"));
    let changed = served.json("PATCH", &one, &json!({ "enabled": false })).expect(200);
    assert_eq!(changed["enabled"], false);
    let hits = served.post("/api/v1/search", &search).expect(200)["hits"].clone();
    assert!(hits.as_array().unwrap().iter().all(|hit| hit["chunk_id"] != chunk), "{hits}");
    let why = served.post("/api/v1/search/explain", &json!({ "chunk": chunk, "search": search })).expect(200);
    assert!(why.to_string().contains("disabled"), "{why}");
    let overlays = served.get(&at("/overlays")).expect(200);
    assert_eq!(overlays["overlays"][0]["chunk_id"], chunk);
    served.json("PATCH", &one, &json!({ "enabled": true })).expect(200);
    assert_eq!(served.post("/api/v1/search", &search).expect(200)["hits"][0]["chunk_id"], chunk);

    // A chunk is split in its middle, and the boundary stays.
    let content = best["content"].as_str().unwrap();
    let middle = content.char_indices().map(|(at, _)| at).find(|at| at * 2 > content.len()).unwrap();
    let byte = best["start_byte"].as_u64().unwrap() + middle as u64;
    let split = at(&format!("/chunks/{chunk}/split"));
    assert_eq!(served.post(&split, &json!({})).problem(400), "invalid_request");
    assert_eq!(served.post(&split, &json!({ "byte": 0 })).problem(400), "invalid_request");
    let divided = served.post(&split, &json!({ "byte": byte })).expect(200);
    let [first, second] = divided["chunks"].as_array().unwrap().as_slice() else { panic!("{divided}") };
    let second = served.get(&at(&format!("/chunks/{}", second.as_str().unwrap()))).expect(200);
    assert_eq!((&second["cut"], &second["doc_id"]), (&json!("manual"), &best["doc_id"]));
    let begins = second["content"].as_str().unwrap().to_owned();
    assert_eq!(served.post(&split, &json!({ "byte": byte })).problem(404), "not_found");

    // Cut by another preset, searches see the new generation, and the one before can be removed.
    let job = json!({ "kind": "reindex", "collection": collection, "settings": { "preset": "course" } });
    let submitted = served.post("/api/v1/jobs", &job);
    let job = submitted.expect(202);
    assert_eq!(submitted.header("location"), format!("/api/v1/jobs/{}", job["id"]));
    let ended = served.ended(&job);
    assert_eq!(ended["state"], "succeeded", "{ended}");
    let versions = served.get(&at("/versions")).expect(200)["generations"].clone();
    let states: Vec<&str> =
        versions.as_array().unwrap().iter().map(|it| it["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["old", "current"]);
    let configuration = served.get(&at("/configuration")).expect(200);
    assert_eq!(configuration["current"]["preset"], "course", "{configuration}");
    assert_eq!(served.found(collection, question)[0], answer);

    // The boundary is in force there too, until it is taken back.
    let overlays = served.get(&at("/overlays")).expect(200);
    assert_eq!(overlays["overlays"][0]["chunk_id"], divided["boundary"], "{overlays}");
    assert_eq!(overlays["overlays"][0]["state"], "on", "{overlays}");
    let on = overlays["overlays"][0]["on"].as_str().unwrap();
    let on = served.get(&at(&format!("/chunks/{on}"))).expect(200);
    let shared = begins.chars().zip(on["content"].as_str().unwrap().chars()).take_while(|(a, b)| a == b);
    assert!(shared.count() > 10, "{begins:?} {on}");
    served.post(&at("/chunks/amend"), &json!({ "chunks": [divided["boundary"]], "reset": true })).expect(200);
    assert_eq!(served.get(&at("/overlays")).expect(200)["total"], 0);
    assert_eq!(served.get(&at(&format!("/chunks/{}", first.as_str().unwrap()))).problem(404), "not_found");

    // What comes later is cut as the collection is by now.
    let later = format!("later/{answer}");
    served.put(collection, &[(&later, text)]);
    let chunks = served.get(&at(&format!("/chunks?filter={}", encoded(&format!("doc_id=\"{later}\"")))));
    assert_eq!(chunks.expect(200)["chunks"][0]["preset"], "course");
    assert_eq!(served.get(&at("/versions")).expect(200)["generations"].as_array().unwrap().len(), 2);

    let old = at(&format!("/versions/{}", versions[0]["generation"]));
    let pruned = served.delete(&old).expect(200);
    assert_eq!(pruned["generations"].as_array().unwrap().len(), 1, "{pruned}");
    assert_eq!(served.delete(&old).problem(409), "conflict");

    served.delete(&at(&format!("/documents/{}", encoded(&later)))).expect(200);
    assert_eq!(served.get(&at(&format!("/documents/{}", encoded(&later)))).problem(404), "not_found");
    let deleted = served.delete(&at("")).expect(200);
    assert_eq!(deleted["documents"], documents.len(), "{deleted}");
    assert_eq!(served.get(&at("")).problem(404), "unknown_collection");
}

#[test]
fn several_collections_are_searched_at_once_in_an_address_and_in_a_body() {
    let served = Served::new();
    served.put("tea", &[("green.md", "# Green tea\n\nPour water of 80 degrees over the leaves.\n")]);
    served.put("bread", &[("rye.md", "# Rye bread\n\nA sourdough needs water, flour and a day.\n")]);
    let by_query =
        served.get("/api/v1/search?q=water&collection=tea&collection=bread&min_relevance=0").expect(200);
    let body = json!({ "query": "water", "collections": ["tea", "bread"], "min_relevance": 0 });
    let by_body = served.post("/api/v1/search", &body).expect(200);
    assert_eq!(by_query, by_body);
    let collections: Vec<&Value> =
        by_query["hits"].as_array().unwrap().iter().map(|hit| &hit["collection"]).collect();
    assert_eq!(collections.len(), 2, "{by_query}");
    assert!(
        by_query["hits"][0]["lexical"].is_object() || by_query["hits"][0]["lexical"].is_number(),
        "{by_query}"
    );
    assert_eq!(served.get("/api/v1/search?q=water&collection=nowhere").problem(404), "unknown_collection");
    assert_eq!(served.get("/api/v1/search?q=water&top_k=0&collection=tea").problem(400), "invalid_request");
}

#[test]
fn two_people_who_split_at_once_lose_nothing_and_neither_is_told_what_is_not_so() {
    let served = Served::new();
    let section =
        |n: usize| format!("# Part {n}\n\nFirst words of {n}.\n\nSecond words of {n}, after a pause.\n\n");
    let text: String = (0..12).map(section).collect();
    served.put("shared", &[("a.md", &text)]);
    let chunks = || served.get("/api/v1/collections/shared/chunks?limit=100").expect(200)["chunks"].clone();
    let before = chunks();
    // Each splits every chunk of her own half, from the last to the first, and both the one in the middle.
    let split = |part: &[usize]| -> Vec<u16> {
        let split_one = |n: &usize| {
            let title = format!("# Part {n}\n");
            let now = chunks();
            let holds = |it: &&Value| it["content"].as_str().unwrap().contains(&title);
            let chunk = now.as_array().unwrap().iter().find(holds).unwrap().clone();
            let byte = text.find(&format!("Second words of {n},")).unwrap();
            let path =
                format!("/api/v1/collections/shared/chunks/{}/split", chunk["chunk_id"].as_str().unwrap());
            served.post(&path, &json!({ "byte": byte })).status
        };
        part.iter().map(split_one).collect()
    };
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(|| split(&[6, 5, 4, 3, 2]));
        let other = scope.spawn(|| split(&[6, 11, 10, 9, 8]));
        (one.join().unwrap(), other.join().unwrap())
    });
    // Where chunks of both were cut at once, the second may find hers gone: she is told, and tries again.
    let mut asked: Vec<(usize, u16)> = [6, 5, 4, 3, 2].into_iter().zip(one).collect();
    asked.extend([6, 11, 10, 9, 8].into_iter().zip(other));
    for (n, status) in &asked {
        assert!([200, 404].contains(status), "{n}: {status}");
    }
    let after = chunks();
    let contents: Vec<&str> =
        after.as_array().unwrap().iter().map(|it| it["content"].as_str().unwrap()).collect();
    for n in [2, 3, 4, 5, 6, 8, 9, 10, 11] {
        let begins = contents.iter().any(|content| content.starts_with(&format!("Second words of {n},")));
        let was_told = asked.contains(&(n, 200));
        assert_eq!(begins, was_told, "{n}: {asked:?} {contents:?}");
    }
    let visible = |chunks: &Value| -> String {
        let texts = chunks.as_array().unwrap().iter().map(|it| it["content"].as_str().unwrap());
        texts.collect::<String>().split_whitespace().collect()
    };
    assert_eq!(visible(&after), visible(&before));
    let overlays = served.get("/api/v1/collections/shared/overlays").expect(200);
    let told = [2, 3, 4, 5, 6, 8, 9, 10, 11].iter().filter(|n| asked.contains(&(**n, 200))).count();
    assert_eq!(overlays["total"], told, "{overlays}");
}
