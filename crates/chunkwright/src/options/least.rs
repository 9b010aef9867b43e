//! Finds the fewest keys that give a configuration.

use super::ChunkOptions;
use crate::chunk::ChunkConfig;

impl ChunkOptions {
    /// The fewest keys that make `to` of the configuration `from`, as [`apply`](Self::apply) does: a size that follows by
    /// itself is left out.
    pub fn between(from: &ChunkConfig, to: &ChunkConfig) -> Self {
        // Sizes follow these two, and no key that is set with them changes that.
        let unit = Self { unit: Self::differences(from, to).unit, ..Self::default() };
        let both = Self { max_size: Some(to.max_size), ..unit.clone() };
        let (by_unit, by_both) = (unit.completed(from, to), both.completed(from, to));
        // A `max_size` that is added afterwards would change what follows it.
        if by_unit.max_size.is_none() && by_unit.count() <= by_both.count() { by_unit } else { by_both }
    }

    /// These keys, with those that are still missing to make `to` of `from`.
    fn completed(self, from: &ChunkConfig, to: &ChunkConfig) -> Self {
        let mut config = from.clone();
        self.apply(&mut config);
        let rest = Self::differences(&config, to);
        Self { unit: self.unit, max_size: self.max_size.or(rest.max_size), ..rest }
    }
}
