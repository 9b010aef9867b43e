//! The delay before the next attempt.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use jiff::fmt::rfc2822::DateTimeParser;

/// Longest backoff, before jitter.
const MAX_BACKOFF_MS: u64 = 30_000;

/// A random time up to `first_ms` doubled `attempt` times: full jitter, so that clients that failed
/// together do not come back together.
pub(crate) fn backoff(first_ms: u64, attempt: u32) -> Duration {
    let longest = first_ms.saturating_mul(1 << attempt.min(16)).min(MAX_BACKOFF_MS);
    // The standard hasher's keys are random, and different at each call; nothing depends on them but a wait.
    let random = RandomState::new().hash_one(attempt);
    Duration::from_millis(random % (longest + 1))
}

/// The wait that a `Retry-After` header asks for: whole seconds, or an HTTP date. `None` if it is neither.
pub(crate) fn after(value: &str, now: i64) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(Duration::from_secs(date.as_second().saturating_sub(now).try_into().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_random_up_to_a_bound_that_doubles() {
        for attempt in 0..6 {
            let waits: Vec<Duration> = (0..200).map(|_| backoff(100, attempt)).collect();
            let longest = Duration::from_millis(100 << attempt);
            assert!(waits.iter().all(|wait| *wait <= longest), "{attempt}");
            assert!(
                waits.iter().any(|wait| *wait > longest / 2) && waits.iter().any(|wait| *wait < longest / 2)
            );
        }
        assert!(backoff(u64::MAX, u32::MAX) <= Duration::from_millis(MAX_BACKOFF_MS));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let check = |value: &str, expected: Option<u64>| {
            assert_eq!(after(value, 784_111_770), expected.map(Duration::from_secs), "{value}");
        };
        check("7", Some(7));
        check(" 0 ", Some(0));
        check("Sun, 06 Nov 1994 08:49:37 GMT", Some(7));
        check("Sun, 06 Nov 1994 08:49:00 GMT", Some(0));
        check("soon", None);
        check("-1", None);
        check("99999999999999999999999", None);
    }
}
