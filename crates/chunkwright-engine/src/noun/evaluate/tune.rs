//! Finds the preset and size that retrieve best on given documents.

use chunkwright::preset::PRESETS;
use chunkwright_eval::made::{Made, Origin};
use chunkwright_eval::tune::{
    Candidate, EDITS, MEASURE, candidates, most_candidates, proposal, ranked, sampled,
};
use chunkwright_eval::{Bench, Options, Rng, edit};
use chunkwright_index::Mode;

use crate::core::engine::Engine;
use crate::error::Error;
use crate::notice::{Notice, NoticeCode};
use crate::noun::evaluate::{inputs, named_presets, no_document};
use crate::request::documents::DocumentsRequest;
use crate::request::evaluate::{EvaluationStep, Proposal, TuneAnswer, TuneCandidate, TuneRequest};

/// An embedder that is fast enough to try many candidates.
const FAST: &str = "static";

impl Engine {
    /// Measures many ways of cutting, and proposes the best one that beats `auto` beyond noise. `None` if there is no
    /// document, or no question can be generated. `on_step` gets the events.
    ///
    /// # Errors
    ///
    /// A file of questions that cannot be read or holds none, a mode without its model, a preset or size that cannot be
    /// used.
    pub fn tune(
        &self,
        documents: &DocumentsRequest,
        request: &TuneRequest,
        on_step: &mut dyn FnMut(EvaluationStep),
    ) -> Result<Option<TuneAnswer>, Error> {
        let (all, read) = self.corpus(documents, request.questions.iter())?;
        let found = all.documents().len();
        if found == 0 {
            on_step(EvaluationStep::Read(read));
            on_step(EvaluationStep::Notice(no_document()));
            return Ok(None);
        }
        let seed = request.seed;
        let asked =
            request.questions.as_ref().map(|path| inputs::questions(path, &all, on_step)).transpose()?;
        let refused = asked.as_ref().map_or(0, |asked| asked.refused.len());
        let given = asked.map(|asked| asked.questions).unwrap_or_default();
        let drawn = Rng::new(seed).sample(given.len(), request.max_questions);
        let mut questions: Vec<_> = drawn.into_iter().map(|at| given[at].clone()).collect();
        let corpus = sampled(&all, &mut questions, request.max_bytes, seed);
        let mut generated = Made::default();
        if request.questions.is_none() {
            generated = Made::new(&corpus, &request.from, request.max_questions, seed);
            questions = std::mem::take(&mut generated.questions);
        }
        if questions.is_empty() {
            on_step(EvaluationStep::Read(read));
            on_step(EvaluationStep::Notice(Notice::new(NoticeCode::Nothing, nothing_to_ask(&request.from))));
            return Ok(None);
        }
        let fast = if self.is_installed(FAST) { FAST } else { "none" };
        let embedder = self.embedder_for(request.mode.as_slice(), Some(fast))?;
        let model = embedder.as_ref().map(|embedder| embedder.model().name.clone());
        let mode = match (request.mode, &embedder) {
            (_, None) => Mode::Lexical,
            (None, Some(_)) => Mode::Hybrid,
            (Some(mode), Some(_)) => mode,
        };
        let options = Options {
            modes: vec![mode],
            fusion: request.fusion,
            measures: vec![MEASURE],
            ..Options::default()
        };
        let counter = self.budget_counter(request.budget_tokenizer.as_deref())?;
        let bench = Bench::new(&corpus, &questions, counter, embedder, options)
            .hiding(generated.hidden.clone())
            .threads(self.threads());
        let presets = tuned_presets(&request.presets);
        on_step(EvaluationStep::Begun { total: most_candidates(presets.len(), request.sizes.len()) });
        let edits = edit::synthetic(&corpus, EDITS, seed);
        let measure = |preset: &str, size: Option<usize>| -> Result<Candidate, Error> {
            self.check_cancelled()?;
            let chunker = self.chunker_with(&self.settings_of(Some(preset), size)?)?;
            let measured = Candidate::measure(&bench, chunker, preset, size.is_none(), &edits)?;
            on_step(EvaluationStep::Measured);
            Ok(measured)
        };
        let candidates = candidates(&presets, &request.sizes, measure)?;
        let figures: Vec<Vec<f64>> = candidates.iter().map(|candidate| candidate.figures.clone()).collect();
        let ranked = ranked(&figures, seed);
        let chosen = proposal(&ranked);
        let best = &candidates[chosen];
        let proposal = Proposal {
            kind: "proposal",
            preset: best.preset.clone(),
            max_size: best.max_size,
            better: chosen != 0,
            toml: toml(best),
            questions: questions.len(),
            questions_from: if request.questions.is_some() { "a file".into() } else { generated.from() },
            bias: generated.bias(),
            documents: corpus.documents().len(),
            documents_found: found,
            mode: mode.as_str(),
            embedder: model,
            seed,
        };
        let line = |it: chunkwright_eval::tune::Ranked| {
            let candidate = &candidates[it.candidate];
            TuneCandidate {
                kind: "candidate",
                preset: candidate.preset.clone(),
                max_size: candidate.max_size,
                unit: candidate.unit,
                sizes: candidate.sizes,
                value: it.value,
                difference: it.difference,
                tied: it.tied,
                changed: candidate.changed,
            }
        };
        let candidates = ranked.into_iter().map(line).collect();
        on_step(EvaluationStep::Read(read));
        Ok(Some(TuneAnswer { candidates, proposal, refused }))
    }
}

/// Explains why there are no questions.
fn nothing_to_ask(from: &[Origin]) -> String {
    let named: Vec<&str> = from.iter().map(|origin| origin.as_str()).collect();
    let of = match named.as_slice() {
        [] => "links, documented symbols, sentences or titles".to_owned(),
        named => named.join(" or "),
    };
    format!(
        "no questions could be made: the documents have no {of} that ask for a passage; write questions (see `chunkwright help eval`)"
    )
}

/// The presets to try, `auto` first.
fn tuned_presets(names: &[String]) -> Vec<String> {
    let mut presets = named_presets(names);
    if presets.is_empty() {
        presets = PRESETS.iter().map(|preset| preset.name.to_owned()).collect();
    }
    presets.retain(|preset| preset != "auto");
    presets.insert(0, "auto".into());
    presets
}

/// The lines of `chunkwright.toml` for this candidate.
fn toml(candidate: &Candidate) -> String {
    let preset = toml::Value::String(candidate.preset.clone());
    let size =
        if candidate.own_size { String::new() } else { format!("max_size = {}\n", candidate.max_size) };
    format!("preset = {preset}\n{size}")
}
