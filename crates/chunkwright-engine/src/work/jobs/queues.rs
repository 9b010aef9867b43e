//! Queues of waiting jobs, each of which runs one job at a time. The cost of every step is independent of the number of
//! jobs and queues.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The queue of a collection, or the queue of jobs without one.
type Queue = Option<String>;

/// Queues of jobs, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Queues {
    all: HashMap<Queue, Waiting>,
    /// The first job of every queue that runs none.
    ready: BTreeMap<u64, Queue>,
    running: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    jobs: BTreeSet<u64>,
    /// Whether a job of the queue runs.
    is_busy: bool,
}

impl Queues {
    /// Adds a job to the end of a queue.
    pub(super) fn push(&mut self, queue: Queue, id: u64) {
        let waiting = self.all.entry(queue.clone()).or_default();
        if waiting.jobs.is_empty() && !waiting.is_busy {
            self.ready.insert(id, queue);
        }
        waiting.jobs.insert(id);
    }

    /// Takes the oldest job that may run. Its queue is busy until [`done`](Self::done).
    pub(super) fn pop(&mut self) -> Option<u64> {
        let (id, queue) = self.ready.pop_first()?;
        let waiting = self.all.entry(queue).or_default();
        waiting.jobs.remove(&id);
        waiting.is_busy = true;
        self.running += 1;
        Some(id)
    }

    /// Notes that the running job of a queue has ended.
    pub(super) fn done(&mut self, queue: &Queue) {
        if let Some(waiting) = self.all.get_mut(queue) {
            self.running -= usize::from(std::mem::replace(&mut waiting.is_busy, false));
        }
        self.settle(queue);
    }

    /// Takes a job out of a queue.
    pub(super) fn remove(&mut self, queue: &Queue, id: u64) {
        if let Some(waiting) = self.all.get_mut(queue) {
            waiting.jobs.remove(&id);
        }
        self.ready.remove(&id);
        self.settle(queue);
    }

    /// Number of jobs that may run.
    pub(super) fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Number of running jobs.
    pub(super) fn running(&self) -> usize {
        self.running
    }

    /// Returns whether a job of a queue waits or runs.
    pub(super) fn has(&self, queue: &Queue) -> bool {
        self.all.contains_key(queue)
    }

    /// Updates the index of ready jobs for a queue.
    fn settle(&mut self, queue: &Queue) {
        let Some(waiting) = self.all.get(queue).filter(|waiting| !waiting.is_busy) else { return };
        match waiting.jobs.first() {
            Some(first) => drop(self.ready.insert(*first, queue.clone())),
            None => drop(self.all.remove(queue)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_a_queue_run_one_after_another_and_the_oldest_that_may_run_is_next() {
        let mut queues = Queues::default();
        let of = |name: &str| Some(name.to_owned());
        for (id, queue) in [(1, of("a")), (2, of("a")), (3, of("b")), (4, None), (5, of("a"))] {
            queues.push(queue, id);
        }
        assert_eq!(queues.ready(), 3);
        assert_eq!(
            [queues.pop(), queues.pop(), queues.pop(), queues.pop()],
            [Some(1), Some(3), Some(4), None]
        );
        queues.remove(&of("a"), 2);
        queues.done(&of("a"));
        assert_eq!(queues.pop(), Some(5));
        queues.done(&of("a"));
        assert!(!queues.has(&of("a")) && queues.has(&of("b")) && queues.has(&None));
        queues.done(&of("b"));
        queues.push(of("b"), 6);
        queues.remove(&of("b"), 6);
        assert_eq!((queues.pop(), queues.has(&of("b"))), (None, false));
    }
}
