//! The part of a filter that a server can decide. It never rejects a record that passes: conditions that the server
//! cannot decide count as passing and are decided by [`Filter::passes_record`] from the record.

use serde_json::Value;

use chunkwright_store::Filter;
use chunkwright_store::filter::{Condition, Field, Test};

/// The conditions that a server can express.
pub(crate) struct Dialect {
    /// A condition on one field; `None` if the server cannot decide it exactly.
    pub(crate) field: fn(Field, &Test) -> Option<Value>,
    /// A condition on metadata; `None` if the server cannot decide it exactly.
    pub(crate) meta: fn(&str, &Test) -> Option<Value>,
    pub(crate) and: fn(Vec<Value>) -> Value,
    pub(crate) or: fn(Vec<Value>) -> Value,
    /// Negation; `None` if the server has none.
    pub(crate) not: Option<fn(Value) -> Value>,
    /// The condition that a record is a chunk, not a summary.
    pub(crate) is_chunk: fn() -> Value,
    /// The condition that every search adds.
    pub(crate) always: fn() -> Value,
}

/// The part of a filter that is pushed to a server.
#[derive(Debug)]
pub(crate) struct Pushed {
    /// The server's condition.
    pub(crate) condition: Value,
    /// Whether the condition decides the filter exactly.
    pub(crate) is_exact: bool,
}

impl Dialect {
    /// Converts `filter`, as far as the server can decide it.
    pub(crate) fn push(&self, filter: &Filter) -> Pushed {
        let mut all = vec![(self.always)()];
        if !filter.mentions(Field::ARTIFACT) {
            all.push((self.is_chunk)());
        }
        let mut is_exact = true;
        if let Some(condition) = filter.condition() {
            let (pushed, exact) = self.condition(condition);
            all.extend(pushed);
            is_exact = exact;
        }
        Pushed { condition: (self.and)(all), is_exact }
    }

    /// A server condition that accepts everything that `condition` does, and whether it accepts nothing else. `None`
    /// accepts everything.
    fn condition(&self, condition: &Condition) -> (Option<Value>, bool) {
        let undecided = (None, false);
        match condition {
            Condition::And(all) => {
                let (pushed, exact): (Vec<_>, Vec<_>) = all.iter().map(|one| self.condition(one)).unzip();
                let mut pushed: Vec<Value> = pushed.into_iter().flatten().collect();
                let exact = exact.iter().all(|exact| *exact) && !all.is_empty();
                match pushed.len() {
                    0 => undecided,
                    1 => (pushed.pop(), exact),
                    _ => (Some((self.and)(pushed)), exact),
                }
            }
            Condition::Or(any) => {
                let (pushed, exact): (Vec<_>, Vec<_>) = any.iter().map(|one| self.condition(one)).unzip();
                match pushed.into_iter().collect::<Option<Vec<Value>>>() {
                    Some(mut pushed) if pushed.len() == 1 => (pushed.pop(), exact[0]),
                    Some(pushed) if !pushed.is_empty() => {
                        (Some((self.or)(pushed)), exact.iter().all(|exact| *exact))
                    }
                    _ => undecided,
                }
            }
            Condition::Not(not) => match (self.not, self.condition(not)) {
                // The negation of a condition that accepts too much would reject too much.
                (Some(negate), (Some(pushed), true)) => (Some(negate(pushed)), true),
                _ => undecided,
            },
            Condition::Meta { meta, test } => match (self.meta)(meta, test) {
                Some(pushed) => (Some(pushed), true),
                None => undecided,
            },
            Condition::Field { field, test } => match (self.field)(*field, test) {
                Some(pushed) => (Some(pushed), true),
                None => undecided,
            },
        }
    }
}
