//! Delta debugging: finds a minimal list of operations that still fails.

use std::time::{Duration, Instant};

/// Removes parts of `items` while `fails` still holds for the rest, for at most `patience`.
pub(crate) fn shrink<T: Clone>(
    items: &[T],
    patience: Duration,
    mut fails: impl FnMut(&[T]) -> bool,
) -> Vec<T> {
    let started = Instant::now();
    let mut items = items.to_vec();
    let mut size = items.len().div_ceil(2);
    while size > 0 && started.elapsed() < patience {
        let mut start = 0;
        let mut any = false;
        while start < items.len() && started.elapsed() < patience {
            let end = (start + size).min(items.len());
            let rest = [&items[..start], &items[end..]].concat();
            if fails(&rest) {
                (items, any) = (rest, true);
            } else {
                start = end;
            }
        }
        if !any || size > 1 {
            size /= 2;
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_shrunk_to_what_it_takes() {
        let items: Vec<u32> = (0..200).collect();
        let fails = |items: &[u32]| items.contains(&17) && items.contains(&160) && items.contains(&161);
        assert_eq!(shrink(&items, Duration::from_mins(1), fails), [17, 160, 161]);
    }
}
