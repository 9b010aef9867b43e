//! Rerankers: the local one on its model, every dialect against a server of our own.

use std::sync::Arc;

use chunkwright_http::{HttpOptions, Secret};
use chunkwright_models::{
    RERANK_DIALECTS, RERANKERS, RerankOptions, Reranker, ServiceOptions, is_remote_reranker, remote_reranker,
    reranker,
};
use serde_json::{Value, json};

use crate::data_dir_with;
use crate::server::{Answer, FakeClock, Request, Server, json as reply, text};

fn open(dialect: &str, server: &Server, batch_texts: usize) -> Arc<dyn Reranker> {
    let service = ServiceOptions {
        url: Some(server.url()),
        key: Some(Secret::new("sk-secret-1234")),
        http: HttpOptions { timeout_ms: 5_000, retries: 1, ..HttpOptions::default() },
        clock: Arc::new(FakeClock::default()),
    };
    let spec = format!("{dialect}:{}", if dialect == "tei" { "" } else { "m" });
    remote_reranker(&spec, RerankOptions { service, batch_texts, ..RerankOptions::default() }).unwrap()
}

/// A server that scores each text by its length, the best first as services do; `change` may alter the scores.
fn scoring(change: impl Fn(&mut Vec<Value>) + Send + Sync + 'static) -> Server {
    Server::new(move |request, _| {
        if request.path == "/info" {
            return reply(200, &json!({"model_id": "org/model"}));
        }
        if texts(request).len() > 4 {
            return reply(413, &json!({"error": "batch size too large"}));
        }
        let name = if request.path == "/rerank" { "score" } else { "relevance_score" };
        let places = texts(request).into_iter().enumerate();
        let mut scores: Vec<Value> = places.map(|(n, text)| json!({"index": n, name: text.len()})).collect();
        scores.reverse();
        change(&mut scores);
        let voyage = request.body.get("truncation").is_some();
        match request.path.as_str() {
            "/rerank" => reply(200, &json!(scores)),
            "/v1/rerank" if voyage => reply(200, &json!({"data": scores})),
            _ => reply(200, &json!({"results": scores})),
        }
    })
}

fn texts(request: &Request) -> Vec<String> {
    let texts = ["documents", "texts"].iter().find_map(|name| request.body[name].as_array());
    texts.unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_dialect_scores_texts_in_their_order_in_batches_and_halves_of_them() {
    for dialect in RERANK_DIALECTS {
        let server = scoring(|_| ());
        let all: Vec<String> = (1..=20).map(|n| "x".repeat(n)).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let expected: Vec<f32> = (1..=20).map(|n| n as f32).collect();
        for batch_texts in [3, 32] {
            let reranker = open(dialect.name, &server, batch_texts);
            assert_eq!(reranker.rerank("q", &all).unwrap(), expected, "{}", dialect.name);
            assert!(reranker.rerank("q", &[]).unwrap().is_empty());
            let model = if dialect.names_model { "m" } else { "org/model" };
            assert_eq!(reranker.name(), format!("{}:{model}", dialect.name));
        }
        let request = server.requests().pop().unwrap();
        assert_eq!(request.body["query"], "q");
        assert_eq!(request.header("authorization"), Some("Bearer sk-secret-1234"));
    }
}

#[test]
fn scores_that_cannot_be_used_are_refused_by_every_dialect() {
    let check = |server: &dyn Fn() -> Server, expected: &str| {
        for dialect in RERANK_DIALECTS {
            let server = server();
            let error = open(dialect.name, &server, 32).rerank("q", &["a", "b"]).unwrap_err().to_string();
            assert!(error.contains(expected), "{}: {error}", dialect.name);
        }
    };
    check(&|| scoring(|scores| drop(scores.pop())), "do not give the index of each text exactly once");
    check(&|| scoring(|scores| scores.truncate(0)), "it has 0 results for 2 texts");
    check(
        &|| scoring(|scores| scores[1] = scores[0].clone()),
        "do not give the index of each text exactly once",
    );
    check(
        &|| scoring(|scores| scores[0]["index"] = json!(7)),
        "do not give the index of each text exactly once",
    );
    let not_finite = |scores: &mut Vec<Value>| {
        for name in ["score", "relevance_score"] {
            scores[0][name] = json!(1e300);
        }
    };
    check(&|| scoring(not_finite), "it contains a value that is not a finite number");
    let answering = |answer: Answer| {
        Server::new(move |request, _| match request.path.as_str() {
            "/info" => reply(200, &json!({"model_id": "m"})),
            _ => answer.clone(),
        })
    };
    let error = json!({"error": "no such model sk-secret-1234"});
    check(&|| answering(reply(200, &error)), "it reports an error: no such model ***");
    check(&|| answering(text(200, "<html>")), "it is a page of HTML");
    check(&|| answering(text(503, "down")), "answered 503: down");
}

#[test]
fn a_name_that_is_no_reranker_is_refused_with_those_that_are() {
    assert!(is_remote_reranker("tei:") && !is_remote_reranker("cohere:") && !is_remote_reranker("e5"));
    let error = reranker("best", "nowhere".as_ref()).err().unwrap().to_string();
    let expected =
        "unknown reranker `best`; known are `e5`, `cohere:MODEL`, `jina:MODEL`, `voyage:MODEL`, `tei:`";
    assert_eq!(error, expected);
}

#[test]
fn the_local_reranker_puts_the_passage_that_answers_first() {
    for info in RERANKERS {
        let Some(dir) = data_dir_with(info.name) else { continue };
        let reranker = reranker(info.name, &dir).unwrap();
        let passages = [
            "The ferry does not take cars when the wind is stronger than 14 metres a second.",
            "馒头蒸好以后关火等三分钟再揭盖，不然会塌。",
            "Задвижку печи закрывают, когда угли погасли и синего пламени нет.",
            "The function returns an error if the configuration file cannot be parsed.",
        ];
        let queries = [
            "at which wind are cars refused",
            "馒头为什么会塌",
            "когда можно закрыть задвижку",
            "parse error of a config",
        ];
        for (place, query) in queries.iter().enumerate() {
            let scores = reranker.rerank(query, &passages).unwrap();
            assert_eq!(scores.len(), 4);
            let best = (0..4).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
            assert_eq!(best, place, "{}: {scores:?}", info.name);
            let alone = reranker.rerank(query, &passages[place..=place]).unwrap();
            assert_eq!(alone, scores[place..=place], "a score does not depend on the texts beside");
        }
        assert_eq!(reranker.rerank("q", &["", " "]).unwrap(), [-1.0, -1.0], "nothing to compare with");
        assert_eq!(reranker.rerank("", &["text"]).unwrap(), [-1.0]);
    }
}
