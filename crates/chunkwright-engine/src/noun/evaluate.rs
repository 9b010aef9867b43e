//! Evaluates presets on documents: whether searches find the answers, and how many chunks survive an edit.

pub(crate) mod inputs;
pub(crate) mod tune;

use chunkwright::Chunker;
use chunkwright::preset::PRESETS;
use chunkwright_eval::report::main_measures;
use chunkwright_eval::{
    Asked, Bench, Edit, EvalError, MeasuredPreset, Options, Questions, Report, Run, retrieval, stability,
};
use chunkwright_index::Mode;
use serde_json::json;

use crate::core::engine::Engine;
use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::request::documents::DocumentsRequest;
use crate::request::evaluate::{EditsRequest, EvaluateAnswer, EvaluateRequest, EvaluationStep};
use crate::settings::{Settings, SettingsError};

impl Engine {
    /// Measures presets on documents. `None` if there are no documents or nothing can be asked. `on_step` gets the
    /// events.
    ///
    /// # Errors
    ///
    /// Neither questions nor edits, files of them that cannot be read or hold none, a mode without its model, a preset
    /// or size that cannot be used.
    pub fn evaluate(
        &self,
        documents: &DocumentsRequest,
        request: &EvaluateRequest,
        on_step: &mut dyn FnMut(EvaluationStep),
    ) -> Result<Option<EvaluateAnswer>, Error> {
        let has_questions = request.questions.is_some() || !request.inline.is_empty();
        if !has_questions && request.edits.is_none() && request.chunks.is_empty() {
            return Err(Error::NothingToMeasure);
        }
        if request.ks.contains(&0) || request.budgets.contains(&0) {
            return Err(Error::ZeroMeasure);
        }
        let presets = named_presets(&request.presets);
        let names: Vec<Option<&str>> = match presets.as_slice() {
            [] => vec![None],
            presets => presets.iter().map(|preset| Some(preset.as_str())).collect(),
        };
        let variants: Result<Vec<Variant>, Error> =
            names.iter().map(|preset| self.variant(*preset, &request.sizes)).collect();
        let variants = variants?;
        let file_of_edits = match &request.edits {
            Some(EditsRequest::File(path)) => Some(path),
            _ => None,
        };
        let others = request.questions.iter().chain(file_of_edits).chain(&request.chunks);
        // Edits from a file need no documents.
        let needs_documents = has_questions || file_of_edits.is_none() || !request.chunks.is_empty();
        let (corpus, read) =
            if needs_documents { self.corpus(documents, others)? } else { Default::default() };
        if corpus.documents().is_empty() && needs_documents {
            on_step(EvaluationStep::Read(read));
            on_step(EvaluationStep::Notice(no_document()));
            return Ok(None);
        }
        let mut refused = 0;
        let (edits, edits_from) = match &request.edits {
            Some(edits) => inputs::edits(edits, &corpus, documents, request.seed, &mut refused, on_step)?,
            None => Default::default(),
        };
        let questions = match &request.questions {
            Some(path) => inputs::questions(path, &corpus, on_step)?,
            None if has_questions => inputs::inline_questions(&request.inline, &corpus, on_step)?,
            None => Questions::default(),
        };
        refused += questions.refused.len();
        let mut foreign = Vec::new();
        for path in &request.chunks {
            foreign.push(inputs::chunks(path, &corpus, &mut refused, on_step)?);
        }
        let embedder = if has_questions { self.embedder_for(&request.modes, None)? } else { None };
        let vectors = embedder.as_ref().map(|embedder| embedder.model().name.clone());
        let counter = self.budget_counter(request.budget_tokenizer.as_deref())?;
        let modes = match (request.modes.as_slice(), &embedder) {
            ([], None) => vec![Mode::Lexical],
            ([], Some(_)) => vec![Mode::Hybrid],
            (asked, _) => asked.to_vec(),
        };
        if embedder.is_none() && modes.contains(&Mode::Hybrid) {
            let message = "there is no embedder: `hybrid` is lexical only";
            on_step(EvaluationStep::Notice(Notice::new(NoticeCode::StageSkipped, message)));
        }
        let (budgets, ks) = (distinct(&request.budgets), distinct(&request.ks));
        let options = Options {
            modes,
            fusion: request.fusion,
            names: request.names,
            measures: retrieval::measures(&budgets, &ks),
            band: self.settings().chunk.band_wanted(),
            ..Options::default()
        };
        let main_measures = main_measures(&options.measures, &budgets, &ks);
        let run = Run {
            kind: "run",
            documents: corpus.documents().len(),
            questions: questions.questions.len(),
            refused,
            edits: edits.len(),
            edits_from,
            tokenizer: self.settings().tokenizer.clone(),
            budget_tokenizer: counter.name().to_owned(),
            embedder: vectors,
            seed: request.seed,
            baseline: variants.first().map(|variant| variant.preset.clone()).unwrap_or_default(),
        };
        let bench =
            Bench::new(&corpus, &questions.questions, counter, embedder, options).threads(self.threads());
        let total = variants.len() + foreign.len();
        on_step(EvaluationStep::Begun { total });
        let mut measured = Vec::with_capacity(total);
        for variant in &variants {
            self.check_cancelled()?;
            measured.push(measure(variant, &bench, &edits)?);
            on_step(EvaluationStep::Measured);
        }
        for (name, chunks) in &foreign {
            self.check_cancelled()?;
            let retrieved = bench.run_foreign(chunks)?;
            measured.push(MeasuredPreset::foreign(name, retrieved));
            on_step(EvaluationStep::Measured);
        }
        let asked =
            Asked { questions: &questions.questions, corpus: &corpus, per_question: request.per_question };
        let report = Report::new(run, asked, bench.options(), &measured);
        on_step(EvaluationStep::Read(read));
        let main_measures = main_measures.iter().map(ToString::to_string).collect();
        Ok(Some(EvaluateAnswer { report, main_measures }))
    }

    /// The chunkers of one preset, for all `sizes` or its own; without a preset, of the preset in force.
    fn variant(&self, preset: Option<&str>, sizes: &[usize]) -> Result<Variant, Error> {
        let mut variant = Variant::default();
        let sizes: Vec<Option<usize>> = match sizes {
            [] => vec![None],
            sizes => sizes.iter().copied().map(Some).collect(),
        };
        for size in sizes {
            let settings = self.settings_of(preset, size)?;
            variant.sizes.push(settings.chunk.max_size);
            variant.chunkers.push(self.chunker_with(&settings)?);
            variant.preset = settings.preset;
        }
        Ok(variant)
    }

    /// The settings in force with another preset or limit.
    fn settings_of(&self, preset: Option<&str>, max_size: Option<usize>) -> Result<Settings, SettingsError> {
        let preset = preset.map(|preset| ("preset".to_owned(), json!(preset)));
        let max_size = max_size.map(|size| ("max_size".to_owned(), json!(size)));
        self.settings().with(preset.into_iter().chain(max_size))
    }
}

/// A preset with the chunkers of all its sizes.
#[derive(Default)]
struct Variant {
    preset: String,
    sizes: Vec<usize>,
    chunkers: Vec<Chunker>,
}

fn measure(variant: &Variant, bench: &Bench<'_>, edits: &[Edit]) -> Result<MeasuredPreset, EvalError> {
    let chunker = variant.chunkers.first();
    let stability = || bench.on_threads(|| stability::stability(&variant.chunkers, edits));
    Ok(MeasuredPreset {
        preset: variant.preset.clone(),
        max_sizes: variant.sizes.clone(),
        unit: chunker.map(|chunker| chunker.config().unit).unwrap_or_default(),
        strategy_version: chunker.map(Chunker::strategy_version).unwrap_or_default(),
        retrieved: bench.run(&variant.chunkers)?,
        stability: if edits.is_empty() { Vec::new() } else { stability() },
    })
}

/// Names of presets, each once; `all` is every built-in one.
fn named_presets(names: &[String]) -> Vec<String> {
    let mut presets: Vec<String> = Vec::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        let meant = match name {
            "all" => PRESETS.iter().map(|preset| preset.name).collect(),
            name => vec![name],
        };
        for name in meant {
            if !presets.iter().any(|preset| preset == name) {
                presets.push(name.to_owned());
            }
        }
    }
    presets
}

fn no_document() -> Notice {
    Notice::new(NoticeCode::Nothing, "no document was found at the given paths")
}

fn distinct(numbers: &[usize]) -> Vec<usize> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
