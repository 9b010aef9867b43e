//! Whether a query asks for tests, for examples or for a version.
//!
//! The words are closed classes in English, Russian and Chinese, compared as the analysis of texts compares them: `tests`
//! and `testing` are `test`, and of Chinese a word is a pair of characters.

use std::collections::HashSet;
use std::sync::LazyLock;

use chunkwright_store::analysis;

/// What a query asks for besides source and documentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::search) struct Subject {
    pub(super) is_test: bool,
    pub(super) is_example: bool,
    /// In which version something changed.
    pub(super) is_version: bool,
}

type Words = LazyLock<HashSet<String>>;

fn words(words: &str) -> HashSet<String> {
    analysis::terms(words).into_iter().collect()
}

static TESTS: Words =
    LazyLock::new(|| words("test tests tested testing spec specs fixture тест тесты тестировать 测试"));

static EXAMPLES: Words = LazyLock::new(|| {
    words("example sample demo tutorial benchmark пример примеры примере демо бенчмарк 示例 例子 样例 演示")
});

static VERSIONS: Words =
    LazyLock::new(|| words("version release changelog версия версии версию релиз релизе 版本"));

static WHICH: Words =
    LazyLock::new(|| words("which what since when какой какая какую каком когда 哪个 哪一 什么"));

static WHEN: Words = LazyLock::new(|| words("when когда 何时 时候 哪年 一年"));

/// Forms of the past, which tell a change of the project from what the program does (`when is the file removed`).
static PAST: Words = LazyLock::new(|| words("was were did has have"));

static CHANGED: Words = LazyLock::new(|| {
    words(
        "added removed introduced deprecated dropped renamed changed fixed добавили добавлен удалили удалён \
        появился появилась появилось убрали убран устарел исправили 加入 引入 新增 添加 移除 删除 废弃 弃用 修复",
    )
});

impl Subject {
    /// What a query with these terms asks for.
    pub(in crate::search) fn of(terms: &[String]) -> Self {
        let has = |words: &Words| terms.iter().any(|term| words.contains(term));
        let is_past = has(&PAST) || terms.iter().any(|term| !term.is_ascii());
        let is_version = has(&VERSIONS) && has(&WHICH) || has(&WHEN) && has(&CHANGED) && is_past;
        Self { is_test: has(&TESTS), is_example: has(&EXAMPLES), is_version }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_says_whether_it_is_about_tests_examples_or_a_version() {
        for (query, expected) in [
            ("how is the cache filled", ""),
            ("how do I test a view", "test"),
            ("test_options.py", "test"),
            ("怎么测试视图", "test"),
            ("как тестировать и где примеры", "test example"),
            ("an example of a decorator", "example"),
            ("在哪里有例子", "example"),
            ("since which version is it deprecated", "version"),
            ("in which release was it fixed", "version"),
            ("when was the option added", "version"),
            ("в какой версии появилась опция", "version"),
            ("когда добавили опцию", "version"),
            ("replaceAll 是哪个版本加入的", "version"),
            ("when is the file removed", ""),
            ("the version of the protocol", ""),
            ("what was added to the list", ""),
        ] {
            let Subject { is_test, is_example, is_version } = Subject::of(&analysis::terms(query));
            let all = [(is_test, "test"), (is_example, "example"), (is_version, "version")];
            let found: Vec<&str> = all.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect();
            assert_eq!(found.join(" "), expected, "{query}");
        }
    }
}
