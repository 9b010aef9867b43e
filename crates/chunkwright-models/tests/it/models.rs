//! Installed models and their verification.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use chunkwright_models::{
    DEFAULT_MODELS, EMBEDDERS, MODELS, ModelState, counter, data_dir, embedder, install, remove, verify,
};

use crate::data_dir_with;

#[test]
fn a_configured_data_directory_is_taken_as_it_is() {
    assert_eq!(data_dir(Some(Path::new("here"))).unwrap(), Path::new("here"));
    assert!(data_dir(None).unwrap().ends_with("chunkwright"));
}

#[test]
fn every_embedder_has_a_model_and_every_default_is_one() {
    let known = |name: &str| MODELS.iter().any(|model| model.name == name);
    assert!(EMBEDDERS.iter().all(|info| known(info.name)));
    assert!(DEFAULT_MODELS.iter().all(|name| known(name)));
    assert!(MODELS.iter().flat_map(|model| model.needs).all(|name| known(name)));
}

#[test]
fn an_absent_model_is_missing_and_a_changed_one_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    for status in verify(dir.path()) {
        assert_eq!(status.state, ModelState::Missing);
    }
    let model = MODELS.iter().find(|model| model.name == "e5").unwrap();
    let file = &model.files[0];
    let path = model.dir(dir.path()).join(file.name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();

    // A file that is too short is found by its size, one of the right size by its hash or content.
    std::fs::write(&path, b"E5S1").unwrap();
    assert!(!model.is_installed(dir.path()));
    std::fs::File::options().write(true).open(&path).unwrap().set_len(file.size).unwrap();
    assert!(model.is_installed(dir.path()));
    let ModelState::Damaged(problem) = model.verify(dir.path()).state else {
        panic!("a file of zeros is whole")
    };
    assert!(problem.contains(file.name), "{problem}");

    let damaged = format!("`{}` is damaged; run `chunkwright models install e5`", path.display());
    assert_eq!(embedder("e5", dir.path()).err().unwrap().to_string(), damaged);
    assert_eq!(counter("xlm-r", dir.path()).err().unwrap().to_string(), damaged);
}

#[test]
fn installing_an_installed_model_does_nothing() {
    for name in DEFAULT_MODELS {
        let Some(dir) = data_dir_with(name) else { continue };
        let installed = install(name, &dir, &AtomicBool::new(false)).unwrap();
        assert!(installed.was_there, "{name}");
    }
}

#[test]
fn an_unknown_model_is_not_installed() {
    let error = install("gpt5", Path::new("nowhere"), &AtomicBool::new(false)).unwrap_err().to_string();
    assert_eq!(error, "unknown model `gpt5`; known are `e5`, `minilm`, `static`, `onnxruntime`");
}

#[test]
fn a_model_is_removed_whole_or_damaged_and_leaves_nothing() {
    let (dir, never) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
    let removed = remove("static", dir.path(), &never).unwrap();
    assert!(!removed.was_there);
    std::fs::create_dir_all(&removed.dir).unwrap();
    std::fs::write(removed.dir.join("tokenizer.json"), "{}").unwrap();
    assert!(remove("static", dir.path(), &never).unwrap().was_there);
    let left: Vec<_> = std::fs::read_dir(dir.path().join("models"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, [".lock"]);
    assert!(remove("gpt5", dir.path(), &never).unwrap_err().to_string().contains("known are"));
}
