//! Scales the sizes that are not set to those that are.

use super::ChunkOptions;
use crate::chunk::{ChunkConfig, Unit};

/// Factor for sizes that are not set when the unit changes: about right for English.
const CHARS_PER_TOKEN: usize = 4;

impl ChunkOptions {
    /// Puts the keys that are set over `config`, whatever `preset` is.
    ///
    /// Sizes that are not set follow those that are: in proportion to `max_size`; or, if only the unit changes, at four
    /// characters a token. Returns the sizes that did, each with the key that it follows.
    pub fn apply(&self, config: &mut ChunkConfig) -> Vec<(&'static str, &'static str)> {
        let before = config.clone();
        self.assign(config);
        let (times, over, followed) = match (before.unit, config.unit) {
            _ if self.max_size.is_some() => (config.max_size, before.max_size, "max_size"),
            (Unit::Tokens, Unit::Chars) => (CHARS_PER_TOKEN, 1, "unit"),
            (Unit::Chars, Unit::Tokens) => (1, CHARS_PER_TOKEN, "unit"),
            _ => return Vec::new(),
        };
        let mut following = Vec::new();
        for (name, size) in sizes(config) {
            let scaled = (*size as u128 * times as u128 / over.max(1) as u128) as usize;
            if !self.sets(name) && scaled != *size {
                following.push((name, followed));
                *size = scaled;
            }
        }
        following
    }

    /// Applies the keys that are set to `config` as the system that `config` reproduces understands them: no size
    /// follows another. A size that is not set is reduced to what the sizes that are set allow. Returns the sizes that
    /// were, each with the key that limits it.
    pub fn apply_unscaled(&self, config: &mut ChunkConfig) -> Vec<(&'static str, &'static str)> {
        self.assign(config);
        let (max, short, long) = (config.max_size, config.short_size, config.long_size);
        let mut limited = Vec::new();
        let mut limit = |name, size: &mut usize, most, by| {
            if *size > most && !self.sets(name) {
                *size = most;
                limited.push((name, by));
            }
        };
        limit("target_size", &mut config.target_size, max, "max_size");
        limit("min_size", &mut config.min_size, max, "max_size");
        limit("overlap_size", &mut config.overlap_size, max / 2, "max_size");
        limit("short_size", &mut config.short_size, long, "long_size");
        if short > long && !self.sets("long_size") {
            config.long_size = config.short_size;
            limited.push(("long_size", "short_size"));
        }
        limited
    }

    /// Sets the sizes that are not set to those of `config`, as far as the others leave room for them.
    pub(super) fn set_sizes_of(&mut self, config: &mut ChunkConfig) {
        self.apply_unscaled(config);
        let sizes = [
            (&mut self.max_size, config.max_size),
            (&mut self.target_size, config.target_size),
            (&mut self.min_size, config.min_size),
            (&mut self.overlap_size, config.overlap_size),
            (&mut self.short_size, config.short_size),
            (&mut self.long_size, config.long_size),
            (&mut self.medium_max_size, config.medium_max_size),
            (&mut self.medium_overlap_size, config.medium_overlap_size),
        ];
        for (option, size) in sizes {
            option.get_or_insert(size);
        }
    }
}

/// The sizes of a configuration: the keys of which [`Key::is_size`] is true.
pub(super) fn sizes(config: &mut ChunkConfig) -> [(&'static str, &mut usize); 8] {
    [
        ("max_size", &mut config.max_size),
        ("target_size", &mut config.target_size),
        ("min_size", &mut config.min_size),
        ("overlap_size", &mut config.overlap_size),
        ("short_size", &mut config.short_size),
        ("long_size", &mut config.long_size),
        ("medium_max_size", &mut config.medium_max_size),
        ("medium_overlap_size", &mut config.medium_overlap_size),
    ]
}
