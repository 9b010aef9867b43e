//! Embeds the chunks that were stored without a vector, document by document in an order of urgency.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::folders::Placed;
use super::run::Run;
use super::target::{Generations, Known};
use super::{Embed, IndexError, IndexOptions, Pipeline, Progress};
use crate::report::IndexReport;
use chunkwright_store::DocumentInfo;

/// How urgent the vectors of a document are; documents of a greater rank come first.
pub type Rank<'a> = dyn Fn(&DocumentInfo) -> u64 + 'a;

/// What a [fill](Pipeline::fill) did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FillReport {
    /// Documents that waited for vectors when it began, apart from those that were tried before.
    pub waiting: usize,
    /// Texts embedded.
    pub embedded: usize,
    /// Nanoseconds spent on embedding; 0 without a clock.
    pub nanos: u64,
    /// The documents that were tried; some of their chunks may still have no vector.
    pub tried: Vec<String>,
    /// Whether it was told to stop.
    pub cancelled: bool,
    /// The last error of the embedder.
    pub error: Option<String>,
}

impl Pipeline {
    /// Embeds about `most` of the chunks without a vector that the generation of this pipeline has, the documents with
    /// the greatest rank first, then those whose files changed last. Documents in `tried` are passed over. Each is
    /// stored with its vectors as soon as it has them; when the run is stopped, within a document too, what was embedded
    /// stays.
    ///
    /// # Errors
    ///
    /// A failing store.
    pub fn fill(
        &self,
        (rank, most): (&Rank<'_>, usize),
        tried: &HashSet<String>,
        options: &IndexOptions,
        on_progress: &dyn Fn(Progress<'_>),
    ) -> Result<FillReport, IndexError> {
        let Some(target) = self.store.find(&self.collection, &self.spec())? else {
            return Ok(FillReport::default());
        };
        let documents = self.store.documents(&target)?;
        let is_wanted = |info: &DocumentInfo| info.pending > 0 && !tried.contains(&info.doc_id);
        let mut pending: Vec<DocumentInfo> = documents.into_iter().filter(is_wanted).collect();
        // A file that was just written has no time of change yet.
        let changed = |info: &DocumentInfo| if info.modified == 0 { i64::MAX } else { info.modified };
        pending.sort_by_cached_key(|info| (Reverse((rank(info), changed(info))), info.doc_id.clone()));
        let waiting = pending.len();
        let mut room = most;
        let chosen = pending.iter().take_while(|info| {
            let fits = room > 0;
            room = room.saturating_sub(info.pending as usize);
            fits
        });
        let chosen = chosen.count();
        pending.truncate(chosen);
        let overlays = self.store.overlays(&self.collection)?;
        // Its own documents are read and written, whatever generation searches see.
        let generations = Generations { target: Some(target.clone()), current: Some(target.clone()) };
        let stored = pending.iter().map(|info| (info.doc_id.clone(), info.clone())).collect();
        let known = Known { current: Some(target), stored, seen: HashMap::new(), is_building: false };
        let options = IndexOptions { embed: Embed::Now, ..options.clone() };
        let (placed, report) = (Placed::default(), IndexReport::default());
        let run = Run::new(self, &options, on_progress, (generations, known, &overlays), placed, report);
        Ok(FillReport { waiting, ..run.fill(&pending)? })
    }
}
