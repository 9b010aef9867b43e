//! The engine as a program uses it.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod collections;
mod documents;
mod given;
mod jobs;
mod operations;
#[cfg(unix)]
mod owner;
#[path = "../../examples/put_and_search.rs"]
mod put_and_search;
mod registries;
mod renamed;
mod resolve;
mod search;
mod search_options;
mod shards;

#[test]
fn the_example_of_the_guide_runs() -> Result<(), Box<dyn std::error::Error>> {
    put_and_search::main()
}
