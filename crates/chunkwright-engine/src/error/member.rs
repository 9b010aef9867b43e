//! The member of a request that an error is about.

use std::fmt::Display;

use chunkwright_index::SearchError;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Serialize;

use super::Error;

/// What is wrong with a member of a request, as an entry of `errors` in RFC 9457.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldError {
    /// The member: a JSON pointer into the request, as the fragment of an address, such as `#/settings/max_size`.
    pub pointer: String,
    /// What is wrong, and what would be right.
    pub detail: String,
}

/// What a fragment of an address cannot hold (RFC 3986).
const FRAGMENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

impl FieldError {
    /// An error of the member at `pointer`.
    pub fn new(pointer: &str, detail: impl Into<String>) -> Self {
        Self { pointer: format!("#{}", utf8_percent_encode(pointer, FRAGMENT)), detail: detail.into() }
    }
}

/// The JSON pointer (RFC 6901) to a member of an object or an item of a list.
pub fn pointer_to(member: impl Display) -> String {
    format!("/{}", member.to_string().replace('~', "~0").replace('/', "~1"))
}

impl Error {
    /// The member of the request that the error is about, as a JSON pointer into the request; `None` if it is about none
    /// or all of it.
    pub fn pointer(&self) -> Option<String> {
        let member = match self {
            Self::Member { pointer, .. } => return Some(pointer.clone()),
            Self::Settings(error) => return error.requested().map(pointer_to),
            Self::Search(error) => return of_search(error).map(str::to_owned),
            Self::TooSmall { field: "expand_tokens", .. } => "/expand/max_tokens",
            Self::TooSmall { field, .. } => return Some(pointer_to(field)),
            Self::TooManyQueries { .. } => "/queries",
            Self::Filter(_) => "/query",
            Self::OptionValue { pointer, .. } | Self::OptionNeeds { pointer, .. } => pointer,
            Self::PageSize { .. } => "/limit",
            Self::Offset { .. } => "/offset",
            Self::NamedAndAll | Self::OneCollection => "/collections",
            Self::NoEmbedder | Self::NoSparseEmbedder => "/mode",
            Self::OtherConfiguration { .. } => "/settings",
            _ => return None,
        };
        Some(member.to_owned())
    }

    /// The same error of a request that is a member of another.
    #[must_use]
    pub fn within(self, member: impl Display) -> Self {
        let pointer = pointer_to(member) + &self.pointer().unwrap_or_default();
        let error = match self {
            Self::Member { error, .. } => error,
            error => Box::new(error),
        };
        Self::Member { pointer, error }
    }

    /// The error as one of the member that it is about.
    pub fn field(&self) -> Option<FieldError> {
        self.pointer().map(|pointer| FieldError::new(&pointer, self.to_string()))
    }
}

fn of_search(error: &SearchError) -> Option<&'static str> {
    Some(match error {
        SearchError::PerDocument => "/per_document",
        SearchError::TopK(_) => "/top_k",
        SearchError::FusionParameter { field: "k", .. } => "/fusion/k",
        SearchError::FusionParameter { field: "dense_weight", .. } => "/fusion/dense_weight",
        SearchError::FusionParameter { field: "sparse_weight", .. } => "/fusion/sparse_weight",
        SearchError::FusionParameter { field: "late_weight", .. } => "/fusion/late_weight",
        SearchError::FusionParameter { .. } | SearchError::NoRelevance(_) => "/min_relevance",
        SearchError::EmptyQuery | SearchError::Query(_) => "/query",
        SearchError::NoDense(_) | SearchError::NoSparse(_) => "/mode",
        SearchError::Embed(_) | SearchError::Rerank(_) | SearchError::Store(_) | _ => return None,
    })
}

/// Places the errors of a result in a member of the request.
pub(crate) trait Within<T> {
    /// The same result, whose error is one of this member.
    fn within(self, member: impl Display) -> Result<T, Error>;
}

impl<T, E: Into<Error>> Within<T> for Result<T, E> {
    fn within(self, member: impl Display) -> Result<T, Error> {
        self.map_err(|error| error.into().within(member))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_names_members_whatever_their_names_are() {
        let error = Error::TooSmall { field: "limit", value: 0, least: 1 };
        let error = error.within(3).within("a/b~c d").within("request");
        assert_eq!(error.pointer().as_deref(), Some("/request/a~1b~0c d/3/limit"));
        assert_eq!(error.field().unwrap().pointer, "#/request/a~1b~0c%20d/3/limit");
        assert_eq!(error.to_string(), "`limit` is `0`; it must be at least 1");
        assert_eq!(error.code().name, "invalid_request");
        assert_eq!(Error::NoCollections.pointer(), None);
    }
}
