//! Collection names that Chroma accepts.

/// Longest name, without the suffix of a generation.
const LONGEST: usize = 480;

/// Maps any name to one that Chroma accepts: 3 characters or more, of ASCII letters, digits, `.`, `_` and `-`, with a
/// letter or digit at both ends. Every other character becomes `_`; a name that is too short, or does not end in a
/// letter or digit, gets `_0` at its end, and one that does not begin with a letter or digit gets `0_` at its
/// beginning. Different names may become the same.
///
/// ```
/// use chunkwright_remote::chroma_name;
///
/// assert_eq!(chroma_name("course_python_basics"), "course_python_basics");
/// assert_eq!(chroma_name("course_13.向量工程和RAG系统"), "course_13._____RAG___0");
/// ```
pub fn chroma_name(name: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let mut legal: String = name.chars().map(legal).take(LONGEST).collect();
    if !legal.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        legal.insert_str(0, "0_");
    }
    if !legal.ends_with(|c: char| c.is_ascii_alphanumeric()) || legal.len() < 3 {
        legal.push_str("_0");
    }
    legal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_such_as_chroma_takes() {
        for (name, expected) in [
            ("python_basics", "python_basics"),
            ("course_13.向量工程和RAG系统", "course_13._____RAG___0"),
            ("a", "a_0"),
            ("ab", "ab_0"),
            ("abc", "abc"),
            ("", "0__0"),
            ("-x-", "0_-x-_0"),
            ("数", "0___0"),
        ] {
            assert_eq!(chroma_name(name), expected);
        }
        assert!(chroma_name(&"名".repeat(1000)).len() <= 512);
    }
}
