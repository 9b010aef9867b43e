//! Lines and their brackets, as far as that can be known line by line.

use std::ops::Range;

use crate::language::{Language, Lines};

/// A bracket, or a word that `end` closes, or that word.
#[derive(Clone)]
pub(crate) struct Token {
    pub(crate) at: usize,
    pub(crate) end: usize,
    pub(crate) bracket: u8,
    pub(crate) opens: bool,
    /// Whether it closes something and only such tokens are before it on its line.
    pub(crate) leads: bool,
    /// Whether it is certainly stray if nothing that it closes is open.
    pub(crate) is_certain: bool,
}

impl Token {
    pub(crate) fn leads(&self) -> bool {
        self.leads
    }
}

/// A line with code on it.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) start: usize,
    pub(crate) visible_start: usize,
    /// After its last visible character.
    pub(crate) end: usize,
    /// The same, a comment at its end left out.
    pub(crate) code_end: usize,
    /// In columns.
    pub(crate) indent: usize,
    pub(crate) tokens: Vec<Token>,
    /// Whether it begins inside a string or comment.
    pub(crate) continues: bool,
    /// Whether it may be indented as little as its enclosing block: `default:`.
    pub(crate) is_label: bool,
}

impl Line {
    /// Whether it closes as much as it opens.
    pub(crate) fn is_balanced(&self) -> bool {
        let opened = self.tokens.iter().filter(|token| token.opens).count();
        !self.continues && !self.tokens.iter().any(|token| token.leads) && 2 * opened == self.tokens.len()
    }
}

/// A column after a tab is the next multiple of this.
const TAB: usize = 4;

/// Most lines of a string between single marks; beyond that the mark counts as stray.
const LONGEST_TEXT: usize = 60;

/// Most heredocs without a terminator; after that no more are searched.
const MOST_MISSED: usize = 16;

/// The construct that a line begins inside.
enum Inside {
    Comment,
    Text(&'static str),
}

/// Reads the lines of a source.
pub(crate) struct Lexer<'a> {
    source: &'a str,
    language: Lines,
    comment: &'static str,
    has_block_comments: bool,
    at: usize,
    inside: Option<Inside>,
    stray: Vec<Range<usize>>,
    /// The word that ends the text in which the next line stands.
    heredoc: Option<&'a str>,
    /// Words of such texts that stand nowhere below.
    missed: usize,
    /// End of the next comment; computed on first use.
    comment_end: Option<usize>,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(source: &'a str, language: &Language) -> Self {
        let comment = language.comment.0.trim();
        Self {
            source,
            language: language.lines,
            comment,
            has_block_comments: matches!(comment, "//" | "/*") || language.lines.has_block_comments,
            at: 0,
            inside: None,
            stray: Vec::new(),
            heredoc: None,
            missed: 0,
            comment_end: None,
        }
    }

    /// Whether the source read so far ends inside a string or comment.
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.is_some()
    }

    /// The marks that open an unclosed string or comment.
    pub(crate) fn stray_marks(self) -> Vec<Range<usize>> {
        self.stray
    }

    /// The next line with code on it.
    pub(crate) fn next_line(&mut self) -> Option<Line> {
        while self.at < self.source.len() {
            let start = self.at;
            let rest = &self.source[start..];
            self.at = start + rest.find('\n').map_or(rest.len(), |end| end + 1);
            let whole = &self.source[start..self.at];
            let text = whole.trim();
            let visible_start = start + (whole.len() - whole.trim_start().len());
            if text.is_empty() {
                continue;
            }
            if let Some(word) = self.heredoc {
                self.heredoc = Some(word).filter(|word| !text.starts_with(word));
                continue;
            }
            let continues = self.inside.is_some();
            if !continues && self.language.has_directives && text.starts_with('#') {
                continue;
            }
            let end = visible_start + text.len();
            let (tokens, code_end) = self.tokens(visible_start, end);
            if self.language.has_heredocs {
                let source = self.source;
                self.heredoc = self.heredoc_word(&source[visible_start..code_end]);
            }
            if code_end == visible_start {
                continue;
            }
            let blanks = self.source[start..visible_start].bytes();
            let indent = blanks
                .fold(0, |column, blank| if blank == b'\t' { (column / TAB + 1) * TAB } else { column + 1 });
            let is_case = text.starts_with("case ") && !self.opening_words().contains(&"case");
            let is_label = is_case || text.ends_with(':') && self.language.indentation.is_none();
            return Some(Line { start, visible_start, end, code_end, indent, tokens, continues, is_label });
        }
        None
    }

    /// The brackets between `start` and `end`, and the end of the code there: `start` if there are only comments, and
    /// strings that began further up.
    fn tokens(&mut self, start: usize, end: usize) -> (Vec<Token>, usize) {
        let bytes = self.source.as_bytes();
        let (mut tokens, mut code_end, mut leads) = (Vec::new(), start, self.inside.is_none());
        let mut at = start;
        if leads {
            self.word(start, end, &mut tokens);
            if let Some(first) = tokens.first() {
                code_end = first.end;
                leads = !first.opens;
                at = first.end;
            }
        }
        while at < end {
            let rest = &self.source[at..end];
            match &self.inside {
                Some(inside) => {
                    let close = match inside {
                        Inside::Comment => "*/",
                        Inside::Text(mark) => *mark,
                    };
                    let Some(length) = rest.find(close) else { break };
                    self.inside = None;
                    at += length + close.len();
                    continue;
                }
                None if self.is_comment(at, rest) => break,
                None if self.has_block_comments && rest.starts_with("/*") => {
                    // One that another begins before it ends has lost its end.
                    if self.comment_closes(at + 2) {
                        self.inside = Some(Inside::Comment);
                        at += 2;
                        continue;
                    }
                    self.stray.push(at..end);
                    break;
                }
                None => {}
            }
            let byte = bytes[at];
            match byte {
                b'"' | b'\'' | b'`' => {
                    leads = false;
                    at = self.text(at, end);
                    code_end = at;
                    continue;
                }
                b'\\' => at += 1,
                b'{' | b'(' | b'[' => {
                    leads = false;
                    tokens.push(Token {
                        at,
                        end: at + 1,
                        bracket: byte,
                        opens: true,
                        leads,
                        is_certain: true,
                    });
                }
                b'}' | b')' | b']' => {
                    let is_certain = !(self.language.is_shell && byte == b')');
                    tokens.push(Token { at, end: at + 1, bracket: byte, opens: false, leads, is_certain });
                }
                byte => leads &= byte.is_ascii_whitespace() || matches!(byte, b';' | b','),
            }
            at = self.source.ceil_char_boundary(at + 1);
            if !byte.is_ascii_whitespace() {
                code_end = at.min(end);
            }
        }
        (tokens, code_end)
    }

    /// The word that ends a text which `line` begins, if it stands on a line further down.
    fn heredoc_word(&mut self, line: &'a str) -> Option<&'a str> {
        let (_, after) = line.split_once("<<")?;
        let word = after.trim_start_matches(['<', '-', '~', '"', '\'', '`']);
        let word = &word[..word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len())];
        let is_word = word.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
        if !is_word || self.missed >= MOST_MISSED {
            return None;
        }
        let ends = self.source[self.at..].lines().any(|line| line.trim_start().starts_with(word));
        self.missed += usize::from(!ends);
        ends.then_some(word)
    }

    /// Whether a comment whose text begins at `at` ends, and no other begins before it does.
    fn comment_closes(&mut self, at: usize) -> bool {
        if self.comment_end.is_none_or(|end| end < at) {
            let end = self.source[at..].find("*/").map_or(self.source.len(), |end| at + end);
            self.comment_end = Some(end);
        }
        let end = self.comment_end.unwrap_or(at);
        let text = &self.source[at..end];
        end < self.source.len() && !text.contains("\n/*") && !text.contains(" /*")
    }

    /// The word that opens or closes something up to `end` where the line begins.
    fn word(&self, start: usize, end: usize, tokens: &mut Vec<Token>) {
        if self.language.end_words.is_none() {
            return;
        }
        let text = &self.source[start..end];
        let is_word = |text: &str, word: &str| {
            text.strip_prefix(word)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || "_:?!".contains(c)))
        };
        let ends = |text: &str| text == "end" || text.ends_with(" end");
        let token = |opens| Token {
            at: start,
            end: start + 3,
            bracket: b'e',
            opens,
            leads: !opens,
            is_certain: false,
        };
        if is_word(text, "end") {
            tokens.push(token(false));
        } else if !ends(text)
            && (self.opening_words().iter().any(|word| is_word(text, word))
                || text.ends_with(" do")
                || text.ends_with('|') && text.contains(" do |"))
        {
            tokens.push(Token { end: start, ..token(true) });
        }
    }

    fn opening_words(&self) -> &'static [&'static str] {
        self.language.end_words.unwrap_or_default()
    }

    fn is_comment(&self, at: usize, rest: &str) -> bool {
        let is_open = |mark: &str| {
            let before = self.source[..at].chars().next_back();
            rest.starts_with(mark) && (mark != "#" || before.is_none_or(char::is_whitespace))
        };
        self.comment != "/*" && is_open(self.comment) || self.language.has_hash_comments && is_open("#")
    }

    /// End of the string that begins with the mark at `at`; inside it if it continues below.
    fn text(&mut self, at: usize, end: usize) -> usize {
        let bytes = self.source.as_bytes();
        let (mark, rest) = (bytes[at], &self.source[at..end]);
        for triple in ["\"\"\"", "'''"] {
            if rest.starts_with(triple) {
                if self.source[at + 3..].contains(triple) {
                    self.inside = Some(Inside::Text(triple));
                } else {
                    self.stray.push(at..at + 3);
                }
                return at + 3;
            }
        }
        if mark == b'\'' && self.language.has_characters {
            let length = match bytes.get(at + 1) {
                Some(b'\\') => rest
                    .get(3..)
                    .and_then(|rest| rest.find('\''))
                    .filter(|&length| length < 10)
                    .map(|length| length + 4),
                _ => rest[1..]
                    .chars()
                    .next()
                    .map(|c| 1 + c.len_utf8())
                    .filter(|&close| rest[close..].starts_with('\''))
                    .map(|close| close + 1),
            };
            return at + length.unwrap_or(1);
        }
        let mut place = at + 1;
        while place < end {
            match bytes[place] {
                b'\\' => place += 1,
                byte if byte == mark => return place + 1,
                _ => {}
            }
            place += 1;
        }
        if mark == b'`' {
            let below = self.source[end..]
                .match_indices(['`', '\n'])
                .take(LONGEST_TEXT)
                .find(|(_, found)| *found == "`");
            if below.is_some() {
                self.inside = Some(Inside::Text("`"));
                return end;
            }
        }
        self.stray.push(at..at + 1);
        at + 1
    }
}
