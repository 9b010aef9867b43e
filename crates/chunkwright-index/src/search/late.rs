//! The stage `late`: a second look at the best of the other stages, by late interaction.

use std::collections::HashMap;

use chunkwright::ChunkId;
use chunkwright_models::late::late_scores;
use chunkwright_store::{Generation, Scored, Store, StoreError};

use super::Stage;

/// How many of the best are looked at. Of answers that no ranking had among the first tokens, half stood at rank 20 or
/// better and a quarter at 21 to 50.
pub(super) const BEST: usize = 50;

/// What late interaction says of the best chunks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Late {
    /// Those whose text has codes, best first, with their [scores](late_scores).
    ranking: Vec<Scored>,
}

impl Late {
    /// Compares the question, given by its tokens, with the first [`BEST`] of `fused`.
    pub(super) fn compare(
        store: &dyn Store,
        generation: &Generation,
        tokens: &[f32],
        fused: &[Scored],
    ) -> Result<Self, StoreError> {
        let ids: Vec<ChunkId> = fused.iter().take(BEST).map(|scored| scored.id).collect();
        let codes = store.codes(generation, &ids)?;
        let known: Vec<(ChunkId, &[u8])> =
            ids.iter().zip(&codes).filter_map(|(id, codes)| Some((*id, codes.as_deref()?))).collect();
        let texts: Vec<&[u8]> = known.iter().map(|(_, codes)| *codes).collect();
        let scores = late_scores(tokens, &texts);
        let compared = known.iter().zip(scores);
        let mut ranking: Vec<Scored> =
            compared.map(|((id, _), score)| Scored { id: *id, score: f64::from(score) }).collect();
        ranking.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        Ok(Self { ranking })
    }

    /// Gives the first [`BEST`] of `fused` by `weight` the score of this stage, stretched over theirs, and by the rest their
    /// own; returns the place of each in this stage. None falls behind those that were not looked at, and a chunk without
    /// codes keeps its score.
    pub(super) fn reorder(&self, weight: f64, fused: &mut [Scored]) -> HashMap<ChunkId, Stage> {
        let looked_at = fused.len().min(BEST);
        let best = &mut fused[..looked_at];
        let (Some(nearest), Some(farthest)) = (self.ranking.first(), self.ranking.last()) else {
            return HashMap::new();
        };
        let (least, greatest) =
            (best.last().map_or(0.0, |it| it.score), best.first().map_or(0.0, |it| it.score));
        let span = nearest.score - farthest.score;
        let stretched = |score: f64| if span > 0.0 { (score - farthest.score) / span } else { 1.0 };
        let places = self.ranking.iter().enumerate();
        let places: HashMap<ChunkId, (usize, f64)> =
            places.map(|(index, scored)| (scored.id, (index + 1, scored.score))).collect();
        let mut stages = HashMap::with_capacity(places.len());
        for chunk in &mut *best {
            let Some(&(rank, score)) = places.get(&chunk.id) else { continue };
            let contribution = weight * (least + (greatest - least) * stretched(score));
            chunk.score = contribution + (1.0 - weight) * chunk.score;
            stages.insert(chunk.id, Stage { rank, score, contribution: Some(contribution) });
        }
        best.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        stages
    }
}
