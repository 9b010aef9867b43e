//! Notes by a chat model: the subject of a document, and of a chunk within its document.
//!
//! A search cannot find a chunk that says "it was raised to 40 %" without knowing what "it" is. A note of one or two
//! sentences, written with the document in view and embedded before the chunk, says so (*contextual retrieval*). A chat
//! model costs money and time, so everything that a note depends on is in a [`Prompt`] with a [key](Prompt::key): the
//! caller stores notes under it and asks once.
//!
//! Documents are data, even where they address the model: their text stands between marks that it cannot contain, and
//! the prompt forbids obeying anything between them. A note is untrusted plain text all the same: escape it before
//! showing it.

mod cut;
mod prompt;

use std::sync::Arc;

use chunkwright::TokenCounter;
use chunkwright_http::{Client, HttpError};
use serde_json::{Value, json};

use crate::counters::{Estimate, OpenAi};
use crate::service::{self, Home, Malformed, ServiceError, ServiceOptions};

pub use prompt::{NoteDocument, NoteTask, Prompt};

/// A kind of service with `/v1/chat/completions`, as `OpenAI` has it.
#[derive(Clone, Copy, Debug)]
pub struct WriterInfo {
    /// The part of a configured name before the `:`.
    pub name: &'static str,
    /// Who it is, in one line.
    pub summary: &'static str,
    /// Its default address.
    pub home: Home,
}

/// All of them; they differ only in their address.
pub const WRITERS: &[WriterInfo] = &[
    WriterInfo {
        name: "openai",
        summary: "OpenAI, and any server with `/v1/chat/completions` (vLLM, llama.cpp, LM Studio, ...)",
        home: Home { url: "https://api.openai.com/v1", key_variable: Some("OPENAI_API_KEY") },
    },
    WriterInfo {
        name: "ollama",
        summary: "Ollama",
        home: Home { url: "http://127.0.0.1:11434", key_variable: None },
    },
];

/// Options for writing notes.
#[derive(Clone)]
pub struct WriterOptions {
    /// The service of the chat model.
    pub service: ServiceOptions,
    /// Most tokens of a note, by `counter`.
    pub max_tokens: usize,
    /// Most tokens of a document that the model is shown, by `counter`.
    pub document_tokens: usize,
    /// Counts tokens; by default an estimate.
    pub counter: Option<Arc<dyn TokenCounter>>,
    /// Price of a million tokens that are read, in the user's currency.
    pub input_price_per_million_tokens: Option<f64>,
    /// Price of a million tokens that are written.
    pub output_price_per_million_tokens: Option<f64>,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self {
            service: ServiceOptions::default(),
            max_tokens: 100,
            document_tokens: 6_000,
            counter: None,
            input_price_per_million_tokens: None,
            output_price_per_million_tokens: None,
        }
    }
}

/// A note.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// One paragraph without control characters, within the limit of tokens; never empty.
    pub text: String,
    /// Its usage.
    pub usage: Usage,
}

/// The usage of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Tokens that were read.
    pub input_tokens: usize,
    /// Tokens that were written.
    pub output_tokens: usize,
    /// Whether the service did not report them and they were counted here.
    pub estimated: bool,
    /// Cost of both at the configured prices; `None` if one of them is not configured.
    pub cost: Option<f64>,
}

/// A chat model that writes notes.
pub struct Writer {
    name: String,
    model: String,
    client: Client,
    counter: Arc<dyn TokenCounter>,
    options: WriterOptions,
}

/// The writer that `spec` names (`openai:MODEL`). No request is sent yet.
///
/// # Errors
///
/// If there is no such service, or the address or key is invalid.
pub fn writer(spec: &str, options: WriterOptions) -> Result<Writer, ServiceError> {
    let found = service::parts(spec).filter(|(_, model)| !model.is_empty()).and_then(|(name, model)| {
        WRITERS.iter().find(|info| info.name == name).map(|info| (info, model.to_owned()))
    });
    let known = || WRITERS.iter().map(|info| format!("{}:MODEL", info.name));
    let (info, model) = found.ok_or_else(|| service::unknown(spec, known()))?;
    let client = options.service.client(info.home)?;
    let counter = options.counter.clone().unwrap_or_else(|| Arc::new(Estimate::new(OpenAi::o200k())));
    Ok(Writer { name: spec.to_owned(), model, client, counter, options })
}

impl Writer {
    /// The service and the model, as configured.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The prompt for `task`. Pure: the same task gives the same prompt.
    pub fn prompt(&self, task: &NoteTask<'_>) -> Prompt {
        Prompt::new(task, &self.model, &*self.counter, self.options.max_tokens, self.options.document_tokens)
    }

    /// Has the model write.
    ///
    /// # Errors
    ///
    /// If the service does not answer as expected, or its answer is empty.
    pub fn write(&self, prompt: &Prompt) -> Result<Note, ServiceError> {
        let answer = self.client.post("/v1/chat/completions", prompt.body())?;
        let (text, written) = service::read(&self.client, &self.name, &answer, |answer| {
            let content = answer.pointer("/choices/0/message/content").and_then(Value::as_str);
            let content = content.ok_or(Malformed::Field("choices[0].message.content"))?;
            let text = cut::cleaned(content);
            let text = cut::shortened(&text, self.options.max_tokens, &*self.counter);
            if text.is_empty() {
                return Err(Malformed::Field("choices[0].message.content"));
            }
            Ok((text.to_owned(), self.counter.count(content)))
        })?;
        let said = |name: &str| answer.pointer(name).and_then(Value::as_u64).map(|count| count as usize);
        let (input, output) = (said("/usage/prompt_tokens"), said("/usage/completion_tokens"));
        let input_tokens = input.unwrap_or_else(|| prompt.texts().map(|text| self.counter.count(text)).sum());
        let output_tokens = output.unwrap_or(written);
        let cost =
            self.options.input_price_per_million_tokens.zip(self.options.output_price_per_million_tokens);
        let cost =
            cost.map(|(read, write)| (input_tokens as f64 * read + output_tokens as f64 * write) / 1e6);
        let estimated = input.is_none() || output.is_none();
        Ok(Note { text, usage: Usage { input_tokens, output_tokens, estimated, cost } })
    }

    /// Requests the service's list of models, which costs nothing, and returns whether this one is among them; `None`
    /// if the service does not list models.
    ///
    /// # Errors
    ///
    /// If it cannot be reached or refuses the key.
    pub fn check(&self) -> Result<Option<bool>, ServiceError> {
        let models = match self.client.get("/v1/models") {
            Ok(models) => models,
            Err(HttpError::Status { status: 404 | 405, .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Some(models) = models.get("data").and_then(Value::as_array) else { return Ok(None) };
        Ok(Some(models.iter().any(|model| model.get("id") == Some(&json!(self.model)))))
    }
}
