//! Embedders: meaning, roles, windows, and independence of neighbours.

use std::sync::{Arc, LazyLock};

use chunkwright_models::{EMBEDDERS, EmbedError, Embedder, Role, default_embedder, embedder};

use proptest::prelude::*;

use crate::data_dir_with;

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Checks that each query is closer to the passage of its own line than to all others.
fn check_meaning(model: &str, pairs: &[(&str, &str)]) {
    let Some(dir) = data_dir_with(model) else { return };
    let embedder = embedder(model, &dir).unwrap();
    let (queries, passages): (Vec<&str>, Vec<&str>) = pairs.iter().copied().unzip();
    let queries = embedder.embed(&queries, Role::Query).unwrap();
    let passages = embedder.embed(&passages, Role::Passage).unwrap();
    for (query, asked) in queries.iter().enumerate() {
        let scores: Vec<f32> =
            passages.iter().map(|passage| cosine(&asked.vector, &passage.vector)).collect();
        let best = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
        assert_eq!(best, query, "{:?}: {scores:?}", pairs[query].0);
    }
}

#[test]
fn e5_finds_the_passage_in_another_language() {
    check_meaning(
        "e5",
        &[
            ("как установить программу", "Run the installer and follow the steps to set up the program."),
            ("如何删除文件", "The command deletes a file from the disk for good."),
            ("рецепт борща", "Boil the beets with cabbage and potatoes to make the soup."),
            ("今天的天气怎么样", "It will rain in the morning and be sunny and warm in the afternoon."),
            (
                "How do I connect to the database?",
                "Чтобы подключиться к базе данных, укажите адрес сервера и пароль.",
            ),
            ("What is the capital of France?", "巴黎是法国的首都，也是最大的城市。"),
        ],
    );
}

#[test]
fn static_vectors_find_the_english_passage() {
    check_meaning(
        "static",
        &[
            ("how to install the program", "Run the installer and follow the setup steps."),
            ("weather today", "It will rain in the morning and be sunny in the afternoon."),
            ("beetroot soup", "Boil the beets with cabbage and potatoes."),
        ],
    );
}

#[test]
fn the_english_encoder_finds_the_passage_in_other_words() {
    check_meaning(
        "minilm",
        &[
            ("how do I set up the program", "Run the installer and follow its steps."),
            ("will I get wet tomorrow", "It will rain in the morning and be sunny in the afternoon."),
            ("what to cook from beets", "Boil cabbage and potatoes with them to make the soup."),
            ("sign in fails", "The password was not accepted: check the name of the account."),
        ],
    );
}

#[test]
fn vectors_have_length_one_and_do_not_depend_on_the_texts_beside() {
    for info in EMBEDDERS {
        let Some(dir) = data_dir_with(info.name) else { continue };
        let embedder = embedder(info.name, &dir).unwrap();
        let texts: Vec<String> =
            (1..24).map(|length| "one more word, ещё слово, 再一个词. ".repeat(length % 7 + 1)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).chain(["short"]).collect();
        let together = embedder.embed(&texts, Role::Passage).unwrap();
        assert_eq!(together.len(), texts.len());
        assert_eq!(embedder.model().name, info.vectors);
        for (text, beside) in texts.iter().zip(&together).step_by(3) {
            assert_eq!(beside.vector.len(), embedder.model().dimension, "{}", info.name);
            assert!((cosine(&beside.vector, &beside.vector) - 1.0).abs() < 1e-4, "{}", info.name);
            assert_eq!(beside.unread_tokens, 0, "{}", info.name);
            let alone = &embedder.embed(&[text], Role::Passage).unwrap()[0];
            assert_eq!(alone, beside, "{} of {text:?}", info.name);
        }
        assert!(embedder.embed(&[], Role::Query).unwrap().is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// Texts of any lengths, so that they fall into batches of all sizes and rows of all numbers.
    #[test]
    fn a_vector_is_the_same_bits_whatever_is_embedded_beside_it(
        texts in prop::collection::vec("([a-zа-я]{1,9} |[一-龥]{1,3}|[0-9]{1,4}\\n){1,24}", 1..7),
        at in any::<prop::sample::Index>(),
    ) {
        for info in EMBEDDERS {
            let Some(embedder) = loaded(info.name) else { continue };
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let (at, role) = (at.index(texts.len()), Role::Passage);
            let alone = embedder.embed(&texts[at..=at], role);
            let Ok(together) = embedder.embed(&texts, role) else { continue };
            prop_assert_eq!(&alone.unwrap()[0], &together[at]);
        }
    }
}

/// An embedder, loaded once for all cases.
fn loaded(name: &'static str) -> Option<Arc<dyn Embedder>> {
    type Loaded = (&'static str, Option<Arc<dyn Embedder>>);
    static LOADED: LazyLock<Vec<Loaded>> = LazyLock::new(|| {
        let load = |name: &str| Some(embedder(name, &data_dir_with(name)?).unwrap());
        EMBEDDERS.iter().map(|info| (info.name, load(info.name))).collect()
    });
    LOADED.iter().find(|(other, _)| *other == name)?.1.clone()
}

#[test]
fn e5_reads_a_question_and_an_answer_differently() {
    let Some(dir) = data_dir_with("e5") else { return };
    let embedder = embedder("e5", &dir).unwrap();
    let vector = |role| embedder.embed(&["the same text"], role).unwrap().remove(0).vector;
    assert_ne!(vector(Role::Query), vector(Role::Passage));
}

#[test]
fn what_the_model_does_not_read_of_a_long_text_is_reported() {
    for info in EMBEDDERS {
        let Some(dir) = data_dir_with(info.name) else { continue };
        let embedder = embedder(info.name, &dir).unwrap();
        let model = embedder.model();
        let Some(window) = model.max_tokens else { continue };
        assert_eq!(model.counter.count(&"a ".repeat(window)), window);
        let long = "a ".repeat(window + 9);
        let read = embedder.embed(&["a ".repeat(window).as_str(), &long], Role::Passage).unwrap();
        assert_eq!(read[0].unread_tokens, 0);
        assert_eq!(read[1].unread_tokens, 9);
        let cosine = cosine(&read[0].vector, &read[1].vector);
        assert!(cosine > 0.9999, "{}: the part that is read is the same: {cosine}", info.name);
    }
}

#[test]
fn a_text_without_tokens_is_refused_with_its_place() {
    for info in EMBEDDERS {
        let Some(dir) = data_dir_with(info.name) else { continue };
        let embedder = embedder(info.name, &dir).unwrap();
        let error = embedder.embed(&["a text", ""], Role::Passage).unwrap_err();
        assert!(matches!(error, EmbedError::NoVector { index: 1, .. }), "{}: {error}", info.name);
    }
}

#[test]
fn the_default_is_the_best_that_is_installed() {
    assert_eq!(default_embedder("no such directory".as_ref()), None);
    let Some(dir) = data_dir_with("e5") else { return };
    assert_eq!(default_embedder(&dir), Some("e5"));
}

#[test]
fn an_embedder_that_cannot_be_had_is_named_with_what_helps() {
    let check = |name: &str, expected: &str| {
        let error = embedder(name, "no such directory".as_ref()).err().unwrap().to_string();
        assert_eq!(error, expected);
    };
    let known = "known are `e5`, `minilm`, `static`, `onnx:DIR`, `openai:MODEL`, `tei:`, `ollama:MODEL`, `cohere:MODEL`, `voyage:MODEL`";
    check("word2vec", &format!("unknown embedder `word2vec`; {known}"));
    check("openai", "unknown embedder `openai`; write `openai:MODEL`");
    let hub = "a model of a hub is exported to ONNX, or run by one of these services";
    let name = "sentence-transformers/all-MiniLM-L6-v2";
    check(name, &format!("unknown embedder `{name}`; {known}; {hub}"));
    let dir = std::path::Path::new("no such directory").join("models").join("e5");
    let dir = dir.display();
    check("e5", &format!("model `e5` is not in `{dir}`; run `chunkwright models install e5`"));
}
