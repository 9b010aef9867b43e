//! Conditions on paths that no document meets: reads them as they may be meant, and reports those that match nothing.
//!
//! A path is typed as a shell or an editor shows it: with `./` or a drive, with backslashes, in another case, from the root
//! of the disk; and a pattern such as `*.rs` is meant in any folder, as other tools take it. If no document matches as it
//! stands, the first of these readings that some document matches is used.

use chunkwright_store::filter::Test;
use chunkwright_store::{Condition, DocumentsBehind, Field, Filter, Generation, Glob, Store, StoreError};
use serde_json::Value;

/// Most folders at the start of an absolute path that are tried without.
const MAX_FOLDERS: usize = 16;

/// Longest path, in bytes, that is read otherwise.
const MAX_PATH: usize = 1_000;

/// A condition on a path that no document meets as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherPath {
    /// The path, as it was given.
    pub given: String,
    /// The one that is used instead; `None` if no document matches any.
    pub used: Option<String>,
    /// Whether it matches in any case only.
    pub in_any_case: bool,
    /// Whether the condition excludes.
    pub excludes: bool,
}

/// Returns whether a filter has conditions on paths that an answer with hits does not prove to be met: several, or one
/// that excludes.
pub fn has_unproven_paths(filter: &Filter) -> bool {
    let mut leaves = 0;
    filter.each_leaf(&mut |leaf| leaves += usize::from(is_of_path(leaf)));
    let is_negated = filter.condition().is_some_and(|condition| negated(condition, false));
    leaves > 1 || is_negated
}

fn is_of_path(condition: &Condition) -> bool {
    matches!(condition, Condition::Field { field: Field::DOC_ID, test: Test::Is(_) | Test::Glob(_) })
}

fn negated(condition: &Condition, is_not: bool) -> bool {
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().any(|one| negated(one, is_not)),
        Condition::Not(not) => negated(not, !is_not),
        leaf => is_not && is_of_path(leaf),
    }
}

/// The filter with paths that documents have, and what was changed or matches nothing.
///
/// # Errors
///
/// As the store.
pub fn known_paths(
    store: &dyn Store,
    generation: &Generation,
    filter: &Filter,
) -> Result<(Filter, Vec<OtherPath>), StoreError> {
    let exists = |glob: &Glob| {
        let request = DocumentsBehind { source: Some(glob), limit: 1, ..DocumentsBehind::default() };
        Ok(!store.list_documents(generation, &request)?.documents.is_empty())
    };
    let mut others = Vec::new();
    let Some(condition) = filter.condition() else { return Ok((filter.clone(), others)) };
    let condition = known(condition.clone(), false, &exists, &mut others)?;
    Ok((Filter::new(condition), others))
}

type Exists<'a> = dyn Fn(&Glob) -> Result<bool, StoreError> + 'a;

fn known(
    condition: Condition,
    excludes: bool,
    exists: &Exists<'_>,
    others: &mut Vec<OtherPath>,
) -> Result<Condition, StoreError> {
    let mut each = |all: Vec<Condition>| -> Result<Vec<Condition>, StoreError> {
        all.into_iter().map(|one| known(one, excludes, exists, others)).collect()
    };
    Ok(match condition {
        Condition::And(all) => Condition::And(each(all)?),
        Condition::Or(any) => Condition::Or(each(any)?),
        Condition::Not(not) => Condition::Not(Box::new(known(*not, !excludes, exists, others)?)),
        Condition::Field { field: Field::DOC_ID, test } => {
            let Some(path) = Path::of(&test).filter(|path| path.text.len() <= MAX_PATH) else {
                return Ok(Condition::Field { field: Field::DOC_ID, test });
            };
            if exists(&path.glob(&path.text, Case::Exact))? {
                return Ok(Condition::Field { field: Field::DOC_ID, test });
            }
            let used = path.meant(exists)?;
            let in_any_case = matches!(used, Some((_, Case::Any)));
            let test = used.as_ref().map_or(test, |(used, case)| Test::Glob(path.glob(used, *case)));
            let used = used.map(|(used, _)| used);
            let other = OtherPath { given: path.text, used, in_any_case, excludes };
            if !others.contains(&other) {
                others.push(other);
            }
            Condition::Field { field: Field::DOC_ID, test }
        }
        other => other,
    })
}

/// A path of a condition.
struct Path {
    text: String,
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// All of the path.
    Literal,
    /// A part of the path.
    Part,
    Pattern,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Exact,
    Any,
}

impl Path {
    fn of(test: &Test) -> Option<Self> {
        match test {
            Test::Is(Value::String(path)) => Some(Self { text: path.clone(), form: Form::Literal }),
            Test::Glob(glob) => Some(match glob.part() {
                Some(part) => Self { text: part, form: Form::Part },
                None => Self { text: glob.to_string(), form: Form::Pattern },
            }),
            _ => None,
        }
    }

    fn glob(&self, text: &str, case: Case) -> Glob {
        let glob = match self.form {
            Form::Literal => Glob::literal(text),
            Form::Part => Glob::anywhere(text),
            Form::Pattern => Glob::new(text).unwrap_or_else(|_| Glob::literal(text)),
        };
        if case == Case::Any { glob.in_any_case() } else { glob }
    }

    /// The first reading that a document matches.
    fn meant(&self, exists: &Exists<'_>) -> Result<Option<(String, Case)>, StoreError> {
        let slashed = self.text.replace('\\', "/").replace("//", "/");
        let plain = slashed.trim_start_matches("./");
        let mut readings = vec![plain];
        let is_absolute =
            plain.starts_with(['/', '~']) || plain.get(1..3) == Some(":/") || plain.starts_with("file:");
        if is_absolute || plain.starts_with("../") {
            let below = plain.match_indices('/').map(|(at, _)| &plain[at + 1..]);
            readings.extend(below.filter(|rest| !rest.trim_matches('/').is_empty()).take(MAX_FOLDERS));
        }
        let in_any_folder = format!("**/{plain}");
        if self.form == Form::Pattern && !plain.starts_with('/') {
            readings.push(&in_any_folder);
        }
        for case in [Case::Exact, Case::Any] {
            for reading in &readings {
                if exists(&self.glob(reading, case))? {
                    return Ok(Some(((*reading).to_owned(), case)));
                }
            }
        }
        Ok(None)
    }
}
