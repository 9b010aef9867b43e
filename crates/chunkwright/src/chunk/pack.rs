//! Packing: which atoms stand together.
//!
//! Balanced packing chooses the cuts of least total cost: each chunk pays for missing the target size,
//! each cut pays for its place. Costs are local and the choice among equal places is made by their
//! text, so that after an edit the choice falls back into step within a chunk or two instead of moving
//! every boundary to the end of the section, as a running fill does. The idea of a dynamic programme
//! over gaps of different rank is also cocoindex's; the anchoring by content is ours.

use crate::chunk::split::Atom;

/// What packing aims at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    /// Largest sum of sizes in a chunk.
    pub(crate) limit: usize,
    /// Size aimed at.
    pub(crate) target: usize,
    /// A chunk below this pays extra.
    pub(crate) min: usize,
}

/// Most atoms that one chunk may have: bounds the work for texts of thousands of tiny lines.
const WINDOW: usize = 1024;

impl Goal {
    /// What a chunk of `size` costs, in thousandths.
    fn cost(self, size: usize) -> u64 {
        let (size, target, min) = (size as u64, self.target.max(1) as u64, self.min.max(1) as u64);
        let miss = 1000 * size.abs_diff(target) / target;
        let runt = if size < min { 300 + 1000 * (min - size) / min } else { 0 };
        miss * miss / 1000 + runt
    }
}

/// Index of the first atom of each chunk, for the cuts of least cost. Linear in the number of atoms.
pub(crate) fn balanced(atoms: &[Atom], goal: Goal) -> Vec<usize> {
    // best[j]: least cost of the first j atoms in whole chunks; from[j]: where the last of them starts.
    let mut best = vec![0_u64; atoms.len() + 1];
    let mut from = vec![0_usize; atoms.len() + 1];
    for end in 1..=atoms.len() {
        best[end] = u64::MAX;
        let mut size = 0;
        for start in (end.saturating_sub(WINDOW)..end).rev() {
            size += atoms[start].size as usize;
            if size > goal.limit && start + 1 < end {
                break;
            }
            let cut = if start == 0 { 0 } else { u64::from(atoms[start].cost) };
            let cost = best[start] + cut + goal.cost(size);
            if cost < best[end] {
                best[end] = cost;
                from[end] = start;
            }
        }
    }
    let mut starts = Vec::new();
    let mut end = atoms.len();
    while end > 0 {
        end = from[end];
        starts.push(end);
    }
    starts.reverse();
    starts
}

/// Index of the first atom of each chunk, each filled as far as the limit allows.
pub(crate) fn first_fit(atoms: &[Atom], limit: usize) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut size = 0;
    for (index, atom) in atoms.iter().enumerate() {
        size += atom.size as usize;
        if index == 0 || size > limit {
            starts.push(index);
            size = atom.size as usize;
        }
    }
    starts
}
