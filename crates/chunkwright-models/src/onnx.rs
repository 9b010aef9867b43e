//! Models that people export: a folder with an ONNX graph, its tokenizer and its settings, run by ONNX Runtime.
//!
//! The runtime is a library of C++ that is loaded when a model is opened: the program needs it neither to be built nor to
//! start. Texts are run one at a time: a quantized graph scales what it computes by the largest number of all texts
//! together, so that a text's vector would depend on the texts beside it.

mod folder;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ort::environment::Environment;
use ort::session::Session;
use ort::session::SessionInputValue;
use ort::value::Tensor;
use parking_lot::Mutex;

pub(crate) use self::folder::{Folder, Pooling};
use crate::counters::TokenizerFile;
use crate::data::{ModelError, model};
use crate::exported::ONNX;

/// The model that is the runtime.
const RUNTIME: &str = "onnxruntime";

/// Tokens that a model reads whose folder does not say it.
const USUAL_TOKENS: usize = 512;

/// Inputs that graphs of encoders have.
const INPUTS: [&str; 4] = ["input_ids", "attention_mask", "token_type_ids", "position_ids"];

/// An opened model.
pub(crate) struct Graph {
    pub(crate) folder: Folder,
    /// The name of the folder and a hash of the graph.
    pub(crate) name: String,
    /// Tokens that it reads, with those that it adds.
    pub(crate) window: usize,
    pub(crate) tokenizer: TokenizerFile,
    session: Mutex<Session>,
    inputs: Vec<String>,
    output: String,
}

/// The numbers of an output for one text.
pub(crate) struct Output {
    /// Numbers a row: of a vector, or of a token's vector.
    pub(crate) width: usize,
    /// Whether there is a row for each token.
    pub(crate) by_token: bool,
    pub(crate) numbers: Vec<f32>,
}

impl Graph {
    /// Opens the model in `dir`, with the runtime that is installed in `data_dir`. Of the `outputs` it gives the first that
    /// it has.
    pub(crate) fn open(dir: &Path, data_dir: &Path, outputs: &[&str]) -> Result<Self, ModelError> {
        let failed = |reason: String| ModelError::Onnx { dir: dir.to_owned(), reason };
        let folder = Folder::read(dir).map_err(failed)?;
        let tokenizer = TokenizerFile::open(&dir.join("tokenizer.json"));
        let tokenizer = tokenizer.map_err(|error| failed(error.to_string()))?;
        let environment = environment(data_dir)?;
        let session = session(environment, &folder.graph).map_err(|error| failed(error.to_string()))?;
        let inputs: Vec<String> = session.inputs().iter().map(|input| input.name().to_owned()).collect();
        if let Some(unknown) = inputs.iter().find(|name| !INPUTS.contains(&name.as_str())) {
            return Err(failed(format!("its graph has the unknown input `{unknown}`")));
        }
        let known: Vec<&str> = session.outputs().iter().map(ort::value::Outlet::name).collect();
        let output = outputs.iter().find(|name| known.contains(*name)).or(known.first());
        let output = (*output.ok_or_else(|| failed("its graph has no output".to_owned()))?).to_owned();
        let mut hash = blake3::Hasher::new();
        std::fs::File::open(&folder.graph)
            .and_then(|mut file| std::io::copy(&mut file, &mut hash))
            .map_err(|error| failed(error.to_string()))?;
        let name = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        let name = name.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{ONNX}{name}@{}", &hash.finalize().to_hex()[..16]);
        let window = folder.max_tokens.unwrap_or(USUAL_TOKENS);
        Ok(Self { folder, name, window, tokenizer, session: Mutex::new(session), inputs, output })
    }

    /// Runs one text, by its token ids and their types.
    ///
    /// # Errors
    ///
    /// The runtime's message.
    pub(crate) fn run(&self, ids: &[u32], types: &[u32]) -> Result<Output, String> {
        let message = |error: ort::Error| error.to_string();
        let mut inputs = Vec::new();
        for name in &self.inputs {
            let numbers: Vec<i64> = match name.as_str() {
                "input_ids" => ids.iter().map(|&id| id.into()).collect(),
                "token_type_ids" => types.iter().map(|&kind| kind.into()).collect(),
                "position_ids" => (0..).take(ids.len()).collect(),
                _ => vec![1; ids.len()],
            };
            let tensor = Tensor::from_array(([1, ids.len()], numbers)).map_err(message)?;
            inputs.push((name.as_str(), SessionInputValue::from(tensor)));
        }
        let mut session = self.session.lock();
        let outputs = session.run(inputs).map_err(message)?;
        let (shape, numbers) = outputs[self.output.as_str()].try_extract_tensor::<f32>().map_err(message)?;
        let width = shape.last().and_then(|&width| usize::try_from(width).ok()).unwrap_or_default();
        let expected = match shape.len() {
            2 => width,
            3 => width * ids.len(),
            _ => 0,
        };
        if expected == 0 || numbers.len() != expected {
            return Err(format!("the output `{}` has the unexpected shape {shape:?}", self.output));
        }
        Ok(Output { width, by_token: shape.len() == 3, numbers: numbers.to_vec() })
    }
}

/// A session whose own threads, as many as the pool of the caller has, share the work of a text.
fn session(environment: &Environment, graph: &Path) -> Result<Session, ort::Error> {
    let builder = Session::builder(environment)?.with_intra_threads(rayon::current_num_threads())?;
    builder.with_intra_op_spinning(false)?.commit_from_file(graph)
}

/// The runtime, loaded once a process.
fn environment(data_dir: &Path) -> Result<&'static Environment, ModelError> {
    static ENVIRONMENT: OnceLock<Environment> = OnceLock::new();
    static LOADING: Mutex<()> = Mutex::new(());
    let _loading = LOADING.lock();
    if let Some(environment) = ENVIRONMENT.get() {
        return Ok(environment);
    }
    let path: PathBuf = model(RUNTIME)?.file_path(data_dir, 0)?;
    let failed = |reason: String| ModelError::Onnx { dir: path.clone(), reason };
    let environment = ort::init_from(&path)
        .map_err(|error| failed(error.to_string()))?
        .with_telemetry(false)
        .build()
        .map_err(|error| failed(error.to_string()))?;
    Ok(ENVIRONMENT.get_or_init(|| environment))
}
