//! Every option of searches is a flag, which refuses what the engine refuses.

use chunkwright_engine::{SEARCH_OPTIONS, SearchRequest};
use serde_json::Value;

use crate::cli::Folder;

#[test]
fn every_option_of_searches_is_a_flag_that_refuses_what_the_engine_refuses() {
    let folder = Folder::new(&[("docs/a.md", "# A\n\nThe first word.\n")]);
    folder.run(&["index", "docs", "--embedder", "none"]).success();
    let help = folder.run(&["help", "search"]).success();
    for option in SEARCH_OPTIONS {
        let Some(flag) = option.flag() else { continue };
        assert!(help.contains(&format!("--{flag}")), "`--{flag}` is not in the help");
        let Some((least, _)) = option.values.range() else { continue };
        let value = (least.as_i64().unwrap() - 1).to_string();
        let needed = option.needs.map(|needs| (needs.option, needs.value.unwrap_or("parent")));
        let options = needed.into_iter().chain([(option.name, value.as_str())]);
        let flags: Vec<String> =
            options.clone().map(|(name, value)| format!("--{}={value}", name.replace('_', "-"))).collect();
        let flags: Vec<&str> =
            ["search", "word"].into_iter().chain(flags.iter().map(String::as_str)).collect();
        let options = options.map(|(name, value)| (name, Value::from(value)));
        let sentence = SearchRequest::read("word", options).unwrap_err().to_string();
        folder.run(&flags).fails(&format!("error: {sentence}"));
    }
}
