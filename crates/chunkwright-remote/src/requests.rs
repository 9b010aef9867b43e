//! Limits requests to sizes that servers accept, and interprets their errors.

use chunkwright_http::HttpError;
use serde_json::Value;

use chunkwright_store::StoreError;

/// Largest body of a request, in bytes. Servers accept 32 MB by default.
const MAX_BYTES: usize = 24 << 20;

/// Most points in one request.
const MAX_POINTS: usize = 512;

/// Splits `points` into batches of a size that servers accept. A larger point is a batch of its own.
pub(crate) fn batches(points: Vec<Value>) -> Vec<Vec<Value>> {
    let mut batches: Vec<Vec<Value>> = Vec::new();
    let mut bytes = 0;
    for point in points {
        let length = point.to_string().len();
        bytes += length;
        if let Some(batch) = batches.last_mut().filter(|batch| batch.len() < MAX_POINTS && bytes <= MAX_BYTES)
        {
            batch.push(point);
        } else {
            bytes = length;
            batches.push(vec![point]);
        }
    }
    batches
}

/// Separates missing objects from failures.
pub(crate) trait Missing<T> {
    /// Converts a 404 to `None`.
    fn or_missing(self, url: &str) -> Result<Option<T>, StoreError>;
}

impl<T> Missing<T> for Result<T, HttpError> {
    fn or_missing(self, url: &str) -> Result<Option<T>, StoreError> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.status() == Some(404) => Ok(None),
            Err(error) => Err(StoreError::of_call(url, error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_divided_where_a_server_would_refuse_it() {
        let point = |bytes: usize| Value::String("x".repeat(bytes - 2));
        let sizes = |points: Vec<Value>| batches(points).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(vec![]), [0; 0]);
        assert_eq!(sizes(vec![point(10); MAX_POINTS + 1]), [MAX_POINTS, 1]);
        assert_eq!(sizes(vec![point(10 << 20); 5]), [2, 2, 1]);
        assert_eq!(sizes(vec![point(9), point(MAX_BYTES + 1), point(9)]), [1, 1, 1]);
    }
}
