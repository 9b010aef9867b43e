//! Packing: groups atoms into chunks.
//!
//! Two steps keep an edit local. First *anchors*: the best places to cut within some reach on both sides, by structure
//! and then by a hash of the text that begins there. Nothing out of its reach affects whether a place is an anchor.
//! Then, between two anchors, the cuts of least total cost: each chunk pays for missing the target size, each cut for
//! its place. A running fill would move every boundary to the end of the section, and costs minimised over a whole
//! section move more than the neighbours in 4 to 6 of 100 one-line edits; between anchors it is 1. Dynamic programming
//! over gaps of different rank is known from cocoindex, boundaries at local minima of a hash from content-defined
//! chunking of files.

use std::collections::VecDeque;
use std::ops::Range;

use crate::chunk::config::Packing;
use crate::chunk::split::{self, Atom};

/// The goal of packing.
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
    /// The cost of a chunk of `size`, in thousandths.
    fn cost(self, size: usize) -> u64 {
        let (size, target, min) = (size as u64, self.target.max(1) as u64, self.min.max(1) as u64);
        let miss = 1000 * size.abs_diff(target) / target;
        let runt = if size < min { 300 + 1000 * (min - size) / min } else { 0 };
        miss * miss / 1000 + runt
    }
}

/// The atoms of each chunk. Linear in the number of atoms.
pub(crate) fn runs(atoms: &[Atom], goal: Goal, packing: Packing) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    for part in atoms.chunk_by(|before, after| !before.alone && !after.alone) {
        let starts = match packing {
            Packing::Balanced => anchored(part, goal),
            Packing::Even => balanced(part, goal),
            Packing::FirstFit => first_fit(part, goal.limit),
        };
        for (index, &at) in starts.iter().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(part.len());
            runs.push(start + at..start + end);
        }
        start += part.len();
    }
    runs
}

/// Index of the first atom of each chunk. Linear in the number of atoms.
fn anchored(atoms: &[Atom], goal: Goal) -> Vec<usize> {
    let anchors = anchors(atoms, goal);
    let mut starts = Vec::new();
    for (index, &start) in anchors.iter().enumerate() {
        let end = anchors.get(index + 1).copied().unwrap_or(atoms.len());
        starts.extend(balanced(&atoms[start..end], goal).into_iter().map(|at| start + at));
    }
    starts
}

/// Index of the first atom of each chunk, for the cuts of least cost. Linear in the number of atoms.
fn balanced(atoms: &[Atom], goal: Goal) -> Vec<usize> {
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

/// Reach within which an anchor must be the best place, in fifths of the target. Larger makes chunks more even, smaller
/// makes edits more local.
const REACH: usize = 2;

/// Index of each atom that is an anchor, the first atom included.
fn anchors(atoms: &[Atom], goal: Goal) -> Vec<usize> {
    // Where each atom begins, in sizes.
    let mut begins = Vec::with_capacity(atoms.len());
    let mut total = 0;
    for atom in atoms {
        begins.push(total);
        total += atom.size as usize;
    }
    let reach = goal.target * REACH / 5;
    let mut anchors = vec![0];
    // Candidates of the window in the order of their place and of rising cost: the first is the least.
    let mut window: VecDeque<usize> = VecDeque::new();
    let mut ahead = 1;
    for at in 1..atoms.len() {
        while ahead < atoms.len() && begins[ahead] <= begins[at] + reach {
            while window.back().is_some_and(|&last| atoms[last].cost > atoms[ahead].cost) {
                window.pop_back();
            }
            window.push_back(ahead);
            ahead += 1;
        }
        while window.front().is_some_and(|&first| begins[first] + reach < begins[at]) {
            window.pop_front();
        }
        let room = begins[at] >= goal.min && total - begins[at] >= goal.min;
        // Never cut where text would be torn from what it belongs to, however far the next place is.
        let tears = atoms[at].cost >= split::LEAD_IN || atoms[at].inside;
        if room && !tears && window.front() == Some(&at) {
            anchors.push(at);
        }
    }
    anchors
}

/// Index of the first atom of each chunk, each filled as far as the limit allows. What announces an atom goes with it.
fn first_fit(atoms: &[Atom], limit: usize) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut size = 0;
    let mut last = 0;
    for (index, atom) in atoms.iter().enumerate() {
        size += atom.size as usize;
        if index > 0 && size <= limit {
            continue;
        }
        let (mut at, mut carried) = (index, atom.size as usize);
        while at > last && atoms[at].is_announced() {
            at -= 1;
            carried += atoms[at].size as usize;
        }
        let is_torn = at == last || carried > limit;
        (last, size) = if is_torn { (index, atom.size as usize) } else { (at, carried) };
        starts.push(last);
    }
    starts
}
