//! Every dialect of the registry against a server of our own that speaks it, with scripted faults.

use std::sync::Arc;

use chunkwright::Words;
use chunkwright_http::{HttpOptions, Secret};
use chunkwright_models::{
    DIALECTS, EmbedError, Embedder, RemoteOptions, Role, ServiceOptions, is_remote, remote_embedder,
};
use serde_json::{Value, json};

use crate::server::{Answer, FakeClock, Request, Server, json as reply, text};

const KEY: &str = "sk-secret-1234";

/// The name of a model in a dialect.
fn spec(dialect: &str) -> String {
    format!("{dialect}:{}", if dialect == "tei" { "" } else { "m" })
}

pub(crate) fn service(server: &Server) -> ServiceOptions {
    let http = HttpOptions { timeout_ms: 5_000, max_body_bytes: 100_000, ..HttpOptions::default() };
    ServiceOptions {
        url: Some(server.url()),
        key: Some(Secret::new(KEY)),
        http,
        clock: Arc::new(FakeClock::default()),
    }
}

pub(crate) fn options(server: &Server) -> RemoteOptions {
    RemoteOptions { service: service(server), known_dimension: Some(4), ..RemoteOptions::default() }
}

/// The texts of a request.
pub(crate) fn texts(request: &Request) -> Vec<String> {
    let texts = ["input", "inputs", "texts"].iter().find_map(|name| request.body[name].as_array());
    texts.unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// A vector that tells which text it is of.
fn vector(text: &str) -> Value {
    let sum: u32 = text.bytes().map(u32::from).sum();
    json!([sum, 1, 2.5, -3e-2])
}

/// `vectors` as the dialect of `path` writes them; where results have places, the last goes first.
fn wrapped(path: &str, vectors: &[Value]) -> Value {
    match path {
        "/v1/embeddings" => {
            let data = vectors.iter().enumerate().rev();
            let data: Vec<Value> = data.map(|(n, vector)| json!({"index": n, "embedding": vector})).collect();
            json!({"object": "list", "data": data})
        }
        "/api/embed" => json!({"embeddings": vectors}),
        "/v2/embed" => json!({"embeddings": {"float": vectors}}),
        _ => json!(vectors),
    }
}

pub(crate) fn info(request: &Request) -> Option<Answer> {
    let info = json!({"model_id": "org/model", "model_sha": null, "max_input_length": 512, "max_client_batch_size": 3});
    (request.path == "/info").then(|| reply(200, &info))
}

/// A server without a fault.
pub(crate) fn good() -> Server {
    changed(|_, vectors| vectors)
}

/// A server whose vectors are `change(texts, vectors)`.
fn changed(change: impl Fn(&[String], Vec<Value>) -> Vec<Value> + Send + Sync + 'static) -> Server {
    Server::new(move |request, _| {
        info(request).unwrap_or_else(|| {
            let texts = texts(request);
            let vectors = change(&texts, texts.iter().map(|text| vector(text)).collect());
            reply(200, &wrapped(&request.path, &vectors))
        })
    })
}

/// A server that answers requests for vectors so.
fn answering(answer: Answer) -> Server {
    Server::new(move |request, _| info(request).unwrap_or_else(|| answer.clone()))
}

pub(crate) fn embedder(dialect: &str, options: RemoteOptions) -> Arc<dyn Embedder> {
    remote_embedder(&spec(dialect), options).unwrap()
}

/// Checks that every dialect refuses what `server` makes, with this in the message.
fn check_refused(server: impl Fn() -> Server, expected: &str) {
    for dialect in DIALECTS {
        let server = server();
        let embedder = embedder(dialect.name, options(&server));
        let error = embedder.embed(&["one", "two", "three"], Role::Passage).unwrap_err();
        assert_eq!(error.index(), None, "{}: {error}", dialect.name);
        let error = error.to_string();
        assert!(error.contains(expected), "{}: {error}", dialect.name);
        assert!(!error.contains("sk-sec"), "{error}");
    }
}

#[test]
fn every_dialect_embeds_texts_in_their_order_with_vectors_of_length_one() {
    for dialect in DIALECTS {
        let server = good();
        let embedder = embedder(dialect.name, RemoteOptions { batch_texts: 3, ..options(&server) });
        let texts: Vec<String> = (0..20).map(|n| "word ".repeat(n + 1)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let embeddings = embedder.embed(&texts, Role::Passage).unwrap();
        assert_eq!(embeddings.len(), 20);
        for (text, embedding) in texts.iter().zip(&embeddings) {
            let length: f32 = embedding.vector.iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-5);
            let first = vector(text)[0].as_f64().unwrap() as f32;
            assert!(
                (embedding.vector[0] / embedding.vector[1] - first).abs() < first * 1e-5,
                "{}",
                dialect.name
            );
            assert_eq!((embedding.unread_tokens, &embedding.sparse), (0, &None));
        }
        let requests = server.requests();
        assert!(
            requests.iter().all(|request| request.header("authorization") == Some("Bearer sk-secret-1234"))
        );
        let calls = requests.iter().filter(|request| request.path != "/info").count();
        assert_eq!(calls, 7, "{}: at most three texts a request", dialect.name);
        assert!(embedder.embed(&[], Role::Query).unwrap().is_empty());
    }
}

#[test]
fn roles_dimension_and_refusal_to_cut_are_asked_for_in_each_dialects_words() {
    let check = |dialect: &str, role: Role, expected: Value| {
        let server = good();
        let options = RemoteOptions { dimension: Some(4), ..options(&server) };
        embedder(dialect, options).embed(&["t"], role).unwrap();
        assert_eq!(server.requests().pop().unwrap().body, expected);
    };
    let openai = json!({"model": "m", "input": ["t"], "encoding_format": "float", "dimensions": 4});
    check("openai", Role::Query, openai);
    check("tei", Role::Query, json!({"inputs": ["t"], "normalize": true, "truncate": false}));
    check("ollama", Role::Query, json!({"model": "m", "input": ["t"], "truncate": false, "dimensions": 4}));
    for (role, cohere, voyage) in
        [(Role::Query, "search_query", "query"), (Role::Passage, "search_document", "document")]
    {
        let expected = json!({
            "model": "m", "texts": ["t"], "input_type": cohere, "embedding_types": ["float"],
            "truncate": "NONE", "output_dimension": 4,
        });
        check("cohere", role, expected);
        let expected = json!({
            "model": "m", "input": ["t"], "input_type": voyage, "truncation": false, "output_dimension": 4,
        });
        check("voyage", role, expected);
    }
}

#[test]
fn the_dimension_is_asked_for_once_unless_it_is_known() {
    for dialect in DIALECTS {
        let server = good();
        let calls = || server.requests().iter().filter(|request| request.path != "/info").count();
        let remote = embedder(dialect.name, RemoteOptions { known_dimension: None, ..options(&server) });
        assert_eq!((remote.model().dimension, calls()), (4, 1), "{}", dialect.name);
        embedder(dialect.name, options(&server));
        assert_eq!(calls(), 1, "{}", dialect.name);
    }
}

#[test]
fn a_models_name_says_all_that_its_vectors_depend_on() {
    let server = good();
    let name = |dialect: &str, change: &dyn Fn(&mut RemoteOptions)| {
        let mut options = options(&server);
        change(&mut options);
        embedder(dialect, options).model().name.clone()
    };
    assert_eq!(name("openai", &|_| ()), "openai:m@4");
    assert_eq!(name("openai", &|options| options.dimension = Some(2)), "openai:m@2");
    assert_eq!(name("tei", &|_| ()), "tei:org/model@4");
    let prefixed = [
        name("openai", &|options| options.query_prefix = "q: ".into()),
        name("openai", &|options| options.passage_prefix = "q: ".into()),
        name("openai", &|options| (options.query_prefix, options.passage_prefix) = ("q".into(), ": ".into())),
        name("openai", &|options| (options.query_prefix, options.passage_prefix) = ("q:".into(), " ".into())),
    ];
    for (n, one) in prefixed.iter().enumerate() {
        assert!(one.starts_with("openai:m@4#") && one.len() == 19, "{one}");
        assert!(prefixed[n + 1..].iter().all(|other| one != other), "{prefixed:?}");
    }
    let remote = embedder("tei", options(&server));
    assert_eq!(remote.model().max_tokens, Some(510));
    assert_eq!(remote.model().counter.name(), "estimate:cl100k");
}

#[test]
fn prefixes_stand_before_texts_and_count() {
    let server = good();
    let options = RemoteOptions {
        query_prefix: "ask this: ".into(),
        passage_prefix: "read: ".into(),
        counter: Some(Arc::new(Words)),
        max_tokens: Some(5),
        ..options(&server)
    };
    let embedder = embedder("ollama", options);
    assert_eq!(embedder.model().max_tokens, Some(3));
    embedder.embed(&["one two"], Role::Query).unwrap();
    assert_eq!(texts(server.requests().last().unwrap()), ["ask this: one two"]);
    let read = embedder.embed(&["one two three", "one two three four five"], Role::Passage).unwrap();
    assert_eq!(texts(server.requests().last().unwrap())[0], "read: one two three");
    assert_eq!(server.requests().last().unwrap().body["truncate"], true, "what is cut can be told");
    assert_eq!((read[0].unread_tokens, read[1].unread_tokens), (0, 2));
}

#[test]
fn batches_are_bounded_by_tokens() {
    let server = good();
    let options = RemoteOptions {
        counter: Some(Arc::new(Words)),
        batch_tokens: 10,
        concurrency: 1,
        ..options(&server)
    };
    let embedder = embedder("openai", options);
    let texts_of = ["a b c d", "a b c d", "a b c d", "a b c d e f g h i j k l", "a", "b"];
    assert_eq!(embedder.embed(&texts_of, Role::Passage).unwrap().len(), 6);
    let sizes: Vec<usize> = server.requests().iter().map(|request| texts(request).len()).collect();
    assert_eq!(sizes, [2, 1, 1, 2]);
}

#[test]
fn a_batch_that_is_too_large_is_halved_until_it_is_taken() {
    for dialect in DIALECTS {
        let server = Server::new(|request, _| {
            info(request).unwrap_or_else(|| match texts(request) {
                many if many.len() > 2 => {
                    reply(422, &json!({"error": "batch size 5 > maximum allowed batch size 2"}))
                }
                few => {
                    let vectors: Vec<Value> = few.iter().map(|text| vector(text)).collect();
                    reply(200, &wrapped(&request.path, &vectors))
                }
            })
        });
        let embedder = embedder(dialect.name, options(&server));
        let embeddings = embedder.embed(&["a", "b", "c", "d", "e"], Role::Passage).unwrap();
        let firsts: Vec<f32> = embeddings.iter().map(|e| (e.vector[0] / e.vector[1]).round()).collect();
        assert_eq!(firsts, [97.0, 98.0, 99.0, 100.0, 101.0], "{}", dialect.name);
    }
}

#[test]
fn the_text_that_is_too_long_alone_is_named_so_that_the_others_go_on() {
    for dialect in DIALECTS {
        let server = Server::new(|request, _| {
            info(request).unwrap_or_else(|| {
                let texts = texts(request);
                if texts.iter().any(|text| text.len() > 100) {
                    let message = format!("maximum context length is 100 tokens, {KEY}");
                    return reply(400, &json!({"error": {"message": message}}));
                }
                let vectors: Vec<Value> = texts.iter().map(|text| vector(text)).collect();
                reply(200, &wrapped(&request.path, &vectors))
            })
        });
        let embedder = embedder(dialect.name, options(&server));
        let long = "long ".repeat(30);
        let mut batch = vec!["a", "b", "c", "d", &long, "e"];
        let error = embedder.embed(&batch, Role::Passage).unwrap_err();
        assert!(matches!(error, EmbedError::TooLong { index: 4, .. }), "{error}");
        assert!(error.to_string().contains("maximum context length") && !error.to_string().contains(KEY));
        batch.remove(error.index().unwrap());
        assert_eq!(embedder.embed(&batch, Role::Passage).unwrap().len(), 5);
    }
}

#[test]
fn a_blank_text_is_named_before_anything_is_sent() {
    let server = good();
    let embedder = embedder("openai", options(&server));
    let error = embedder.embed(&["a", " \n"], Role::Passage).unwrap_err();
    assert!(matches!(error, EmbedError::NoVector { index: 1, .. }), "{error}");
    assert!(server.requests().is_empty());
}

#[test]
fn a_vector_of_zeros_is_the_fault_of_its_text_and_all_zeros_of_the_service() {
    for dialect in DIALECTS {
        let server = changed(|texts, mut vectors| {
            if let Some(zero) = texts.iter().position(|text| text == "two") {
                vectors[zero] = json!([0, 0.0, -0.0, 0]);
            }
            vectors
        });
        let embedder = embedder(dialect.name, options(&server));
        let error = embedder.embed(&["one", "two", "three"], Role::Passage).unwrap_err();
        assert!(matches!(error, EmbedError::NoVector { index: 1, .. }), "{}: {error}", dialect.name);
    }
    let zeros = || changed(|_, vectors| vec![json!([0, 0, 0, 0]); vectors.len()]);
    check_refused(zeros, "its vectors are all zeros");
}

#[test]
fn an_answer_for_other_texts_or_of_another_length_is_refused() {
    check_refused(|| changed(|_, vectors| vectors[1..].to_vec()), "it has 2 results for 3 texts");
    let more = |_: &[String], mut vectors: Vec<Value>| {
        vectors.push(vector("more"));
        vectors
    };
    check_refused(|| changed(more), "it has 4 results for 3 texts");
    check_refused(|| changed(|_, _| Vec::new()), "it has 0 results for 3 texts");
    let longer = |_: &[String], mut vectors: Vec<Value>| {
        vectors[2] = json!([1, 2, 3, 4, 5]);
        vectors
    };
    check_refused(|| changed(longer), "it has a vector of 5 numbers, not 4");
    check_refused(
        || changed(|_, vectors| vec![json!([]); vectors.len()]),
        "it has a vector of 0 numbers, not 4",
    );
}

#[test]
fn numbers_that_are_none_are_refused() {
    for wrong in [json!(null), json!("NaN"), json!(1e300), json!(-1e39), json!([1])] {
        let server = || {
            let wrong = wrong.clone();
            changed(move |_, mut vectors| {
                vectors[1] = json!([1, 2, wrong, 4]);
                vectors
            })
        };
        check_refused(server, "it contains a value that is not a finite number");
    }
    check_refused(|| answering(text(200, "[[1, NaN, 2, 3]]")), "is not JSON");
    check_refused(|| answering(text(200, "[[1, 1e999, 2, 3]]")), "is not JSON: number out of range");
}

#[test]
fn places_that_are_not_each_texts_own_are_refused() {
    for (places, expected) in [
        ([0, 0, 1], "its results do not give the index of each text exactly once"),
        ([0, 1, 3], "its results do not give the index of each text exactly once"),
    ] {
        for dialect in ["openai", "voyage"] {
            let data: Vec<Value> =
                places.iter().map(|n| json!({"index": n, "embedding": vector("x")})).collect();
            let server = Server::script(vec![reply(200, &json!({"data": data}))]);
            let error = embedder(dialect, options(&server)).embed(&["a", "b", "c"], Role::Passage);
            let error = error.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

#[test]
fn an_answer_that_is_something_else_is_refused() {
    check_refused(|| answering(text(200, "<html>sign in</html>")), "is not JSON: it is a page of HTML");
    let error = json!({"error": {"message": format!("model is loading, {KEY}")}});
    check_refused(|| answering(reply(200, &error)), "it reports an error: model is loading, ***");
    check_refused(|| answering(reply(200, &json!({"ok": true}))), "is missing or malformed");
    check_refused(|| answering(text(200, "")), "is missing or malformed");
    check_refused(|| answering(text(200, &"[0],".repeat(50_000))), "has more than 100000 bytes");
    check_refused(|| answering(Answer::Endless), "has more than 100000 bytes");
    check_refused(|| answering(reply(200, &json!("words"))), "is missing or malformed");
}

#[test]
fn a_service_that_is_down_or_refuses_is_said_to_be_so_by_every_dialect() {
    check_refused(|| answering(text(503, "down")), "answered 503: down");
    check_refused(|| answering(Answer::Drop), "cannot be reached");
    check_refused(|| answering(Answer::Cut), "cannot be reached");
    check_refused(|| answering(text(401, &format!("no {KEY}"))), "answered 401, the key is missing, wrong");
    check_refused(
        || answering(text(404, "no model")),
        "answered 404, there is no such path or model: no model",
    );
}

#[test]
fn every_dialect_goes_on_after_faults_that_pass() {
    for dialect in DIALECTS {
        for fault in
            [text(429, "slow"), text(500, "oh"), text(502, ""), text(503, ""), Answer::Drop, Answer::Cut]
        {
            let server = {
                let calls = std::sync::atomic::AtomicUsize::new(0);
                Server::new(move |request, _| {
                    info(request).unwrap_or_else(|| {
                        if calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) < 2 {
                            return fault.clone();
                        }
                        let vectors: Vec<Value> = texts(request).iter().map(|text| vector(text)).collect();
                        reply(200, &wrapped(&request.path, &vectors))
                    })
                })
            };
            let embedder = embedder(dialect.name, options(&server));
            assert_eq!(embedder.embed(&["a", "b"], Role::Passage).unwrap().len(), 2, "{}", dialect.name);
        }
    }
}

#[test]
fn nothing_is_begun_after_a_batch_has_failed() {
    let server = answering(text(401, "no"));
    let options = RemoteOptions { batch_texts: 1, concurrency: 2, ..options(&server) };
    let embedder = embedder("openai", options);
    assert!(embedder.embed(&["a"; 50], Role::Passage).is_err());
    assert!(server.requests().len() <= 3, "{}", server.requests().len());
}

#[test]
fn a_name_that_is_no_service_is_refused_with_the_forms_that_are() {
    assert!(is_remote("openai:text-embedding-3-small") && is_remote("tei:"));
    for spec in ["e5", "openai:", "openai", "word2vec:m", ""] {
        assert!(!is_remote(spec), "{spec}");
    }
    let error = remote_embedder("openai:", RemoteOptions::default()).err().unwrap().to_string();
    let expected = "unknown service `openai:`; it must be one of `openai:MODEL`, `tei:`, `ollama:MODEL`, \
                    `cohere:MODEL`, `voyage:MODEL`";
    assert_eq!(error, expected);
}

#[test]
fn a_public_service_without_a_key_is_not_called() {
    // No test sets the variable, and no machine of a developer has a key for tests.
    for dialect in DIALECTS.iter().filter(|dialect| dialect.home.key_variable.is_some()) {
        let variable = dialect.home.key_variable.unwrap();
        if std::env::var_os(variable).is_some() {
            continue;
        }
        let error = remote_embedder(&spec(dialect.name), RemoteOptions::default()).err().unwrap().to_string();
        assert!(error.contains(&format!("requires a key: set `{variable}`")), "{error}");
    }
}
