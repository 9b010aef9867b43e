//! Sparse vectors of services: accepted answers, and what remains when the service fails.

use chunkwright_models::{EmbedError, RemoteOptions, Role, ServiceError, SparseOptions, remote_embedder};
use serde_json::{Value, json};

use crate::remote::{embedder, good, info, options, service, texts};
use crate::server::{Server, json as reply, text};

#[test]
fn sparse_vectors_come_from_a_second_server_by_ascending_token() {
    let sparse = |weights: Value| {
        Server::new(move |request, _| {
            info(request).unwrap_or_else(|| reply(200, &json!(vec![weights.clone(); texts(request).len()])))
        })
    };
    let embed = |weights: Value| {
        let (dense, sparse) = (good(), sparse(weights));
        let options = RemoteOptions { sparse: Some(sparse_at("tei:", &sparse)), ..options(&dense) };
        let embedder = embedder("openai", options);
        assert!(embedder.model().name.starts_with("openai:m@4+"), "another sparse model is another name");
        assert!(embedder.model().sparse);
        let result = embedder.embed(&["a", "b"], Role::Passage);
        assert_eq!(sparse.requests().last().unwrap().path, "/embed_sparse");
        result
    };
    let weights = json!([{"index": 9, "value": 0.5}, {"index": 2, "value": 1.5}, {"index": 4, "value": 0.0}]);
    let embeddings = embed(weights).unwrap();
    assert!(embeddings.iter().all(|e| e.sparse == Some(vec![(2, 1.5), (9, 0.5)])));
    for wrong in [
        json!([{"index": 1, "value": 1}, {"index": 1, "value": 2}]),
        json!([{"index": -1, "value": 1}]),
        json!([{"index": 1, "value": -1}]),
        json!([{"index": 5_000_000_000_u64, "value": 1}]),
        json!([{"index": 1, "value": null}]),
        json!([{"index": 1}]),
        json!(null),
    ] {
        let error = embed(wrong).unwrap_err();
        assert!(matches!(error, EmbedError::Service(ServiceError::Answer { .. })), "{error}");
    }
    // Much more than any model gives is not even read to its end.
    let error = embed(json!(vec![json!({"index": 1, "value": 1}); 100_000])).unwrap_err().to_string();
    assert!(error.ends_with("has more than 100000 bytes"), "{error}");
}

/// The server as one that gives sparse vectors.
fn sparse_at(spec: &str, server: &Server) -> SparseOptions {
    SparseOptions { spec: spec.into(), service: service(server) }
}

#[test]
fn vllm_gives_the_greatest_weight_of_each_token_that_it_says_a_text_has() {
    let embed = |weights: Value, tokens: Value| {
        let (dense, sparse) = (
            good(),
            Server::new(move |request, _| match request.path.as_str() {
                "/pooling" => {
                    let (texts, task) = (request.body["input"].as_array().unwrap(), &request.body["task"]);
                    assert_eq!((task, &request.body["model"]), (&json!("token_classify"), &json!("bge-m3")));
                    let row = |index: usize| json!({"index": index, "object": "pooling", "data": weights});
                    reply(200, &json!({"data": (0..texts.len()).map(row).rev().collect::<Vec<_>>()}))
                }
                "/tokenize" => {
                    assert_eq!(request.body["add_special_tokens"], false);
                    reply(200, &json!({"count": 9, "tokens": tokens}))
                }
                path => panic!("{path}"),
            }),
        );
        let options = RemoteOptions { sparse: Some(sparse_at("vllm:bge-m3", &sparse)), ..options(&dense) };
        let embedder = embedder("openai", options);
        assert!(embedder.model().name.starts_with("openai:m@4+"));
        let passages = embedder.embed(&["a", "b"], Role::Passage)?;
        assert_eq!(embedder.embed_query("a")?.0.sparse, passages[0].sparse);
        Ok::<_, EmbedError>(
            passages.into_iter().map(|embedding| embedding.sparse.unwrap()).collect::<Vec<_>>(),
        )
    };
    let expected = vec![vec![(7, 0.75), (250_001, 0.5)]; 2];
    let weights = json!([0.25, 0.5, 0.0, 0.75]);
    assert_eq!(embed(weights.clone(), json!([7, 250_001, 3, 7])).unwrap(), expected);
    assert_eq!(embed(json!([[0.25], [0.5], [0.0], [0.75]]), json!([7, 250_001, 3, 7])).unwrap(), expected);
    for (weights, tokens, why) in [
        (weights.clone(), json!([7, 250_001, 3]), "it has 4 weights for a text of 3 tokens"),
        (json!([0.25, -0.5]), json!([7, 8]), "a negative weight"),
        (json!([0.25, null]), json!([7, 8]), "not a finite number"),
        (json!([0.25, 0.5]), json!([7, -8]), "field `tokens` is missing or malformed"),
        (json!(0.25), json!([7]), "field `data` is missing or malformed"),
    ] {
        let error = embed(weights, tokens).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let options = RemoteOptions { sparse: Some(sparse_at("ollama:m", &good())), ..options(&good()) };
    let error = remote_embedder("openai:m", options).err().unwrap().to_string();
    assert_eq!(error, "unknown service `ollama:m`; it must be one of `tei:`, `vllm:MODEL`");
}

#[test]
fn a_question_has_its_dense_vector_where_the_sparse_one_is_not_to_be_had() {
    let good_sparse = || {
        Server::new(|request, _| {
            let weights = json!([[{"index": 2, "value": 0.5}]]);
            info(request).unwrap_or_else(|| reply(200, &weights))
        })
    };
    let open = |sparse: &Server, known_name: Option<String>| {
        let dense = good();
        let options =
            RemoteOptions { sparse: Some(sparse_at("tei:", sparse)), known_name, ..options(&dense) };
        (remote_embedder("openai:m", options), dense)
    };
    let (embedder, _dense) = open(&good_sparse(), None);
    let name = embedder.unwrap().model().name.clone();
    let server = good_sparse();
    let (embedder, _dense) = open(&server, Some(name.clone()));
    let (embedding, failed) = embedder.unwrap().embed_query("a").unwrap();
    assert!(embedding.sparse == Some(vec![(2, 0.5)]) && failed.is_none());
    // One reports its model and then fails; the other does not even report its model.
    let failing = Server::new(|request, _| info(request).unwrap_or_else(|| text(400, "no")));
    for (server, known) in [(failing, None), (Server::new(|_, _| text(400, "no")), Some(name.clone()))] {
        let (embedder, _dense) = open(&server, known);
        let embedder = embedder.unwrap();
        assert_eq!(embedder.model().name, name);
        let (embedding, failed) = embedder.embed_query("a").unwrap();
        assert!(embedding.vector.len() == 4 && embedding.sparse.is_none() && failed.is_some());
        assert!(embedder.embed(&["a"], Role::Passage).is_err(), "a passage has both vectors or none");
    }
    // The stored vectors are of another dense model, or nothing is stored.
    for known in [None, Some("openai:m@5+12345678".to_owned()), Some("openai:m@4".to_owned())] {
        assert!(open(&Server::new(|_, _| text(400, "no")), known).0.is_err());
    }
}
