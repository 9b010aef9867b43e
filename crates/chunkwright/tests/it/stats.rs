//! Statistics of sizes.

use chunkwright::stats::{Distribution, TokenLevel};

#[test]
fn percentiles_are_nearest_rank() {
    let distribution = Distribution::of((1..=100).rev().collect());
    assert_eq!((distribution.p10, distribution.p50, distribution.p99, distribution.max), (10, 50, 99, 100));
    assert_eq!(Distribution::of(vec![7]).p10, 7);
    assert_eq!(Distribution::of(vec![]), Distribution::default());
}

#[test]
fn levels_begin_where_the_contract_says() {
    use TokenLevel::{Large, Normal, Oversized, Warning};
    let levels = [511, 512, 1023, 1024, 2048, 2049].map(TokenLevel::of);
    assert_eq!(levels, [Normal, Warning, Warning, Large, Large, Oversized]);
}
