//! What of a filter a server can decide. Nothing that passes is kept back: what the server does not know is
//! taken as passing and decided by [`Filter::passes_record`] from the record.

use serde_json::Value;

use chunkwright_store::Filter;
use chunkwright_store::filter::{Condition, Field, Test};

/// How a server says conditions.
pub(crate) struct Dialect {
    /// A condition on one field; none if the server cannot decide it exactly.
    pub(crate) field: fn(Field, &Test) -> Option<Value>,
    /// A condition on what the caller said under a name; none if the server cannot decide it exactly.
    pub(crate) meta: fn(&str, &Test) -> Option<Value>,
    pub(crate) and: fn(Vec<Value>) -> Value,
    pub(crate) or: fn(Vec<Value>) -> Value,
    /// None where there is no such thing.
    pub(crate) not: Option<fn(Value) -> Value>,
    /// That a chunk is no summary.
    pub(crate) is_chunk: fn() -> Value,
    /// What every search asks for.
    pub(crate) always: fn() -> Value,
}

/// What a server is told.
#[derive(Debug)]
pub(crate) struct Pushed {
    /// What it lets pass.
    pub(crate) condition: Value,
    /// Whether that is exactly what passes.
    pub(crate) is_exact: bool,
}

impl Dialect {
    /// `filter`, as far as the server can decide it.
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

    /// A condition that lets pass all that `condition` does, and whether it lets pass nothing else. None lets
    /// pass everything.
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
                // Of what lets too much pass, the opposite would keep back too much.
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
