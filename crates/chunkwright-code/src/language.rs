//! The definition of a language: a grammar, and tables that give its kinds of syntax a meaning. Data only.

use chunkwright::SymbolKind;

/// A programming language, as data.
///
/// Kinds of syntax are the named node kinds of the grammar (its `node-types.json`). A file of `src/lang`
/// states what differs from [`Language::BASE`].
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what a language is like, not one state of many")]
pub struct Language {
    /// Name, lower case: `python`.
    pub name: &'static str,
    /// File name extensions, lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Whole file names that mean this language.
    pub file_names: &'static [&'static str],
    /// Programs that a `#!` line names, without version numbers.
    pub interpreters: &'static [&'static str],
    /// Other names that a fence of Markdown or an attribute of HTML gives it.
    pub aliases: &'static [&'static str],
    /// The grammar.
    pub grammar: fn() -> tree_sitter::Language,
    /// The meaning of kinds of syntax for the outline; those not listed are [`Role::Statement`].
    pub roles: &'static [(&'static str, Role)],
    /// Roles in addition to `roles`, which a dialect takes from the language it starts from. These come first.
    pub own_roles: &'static [(&'static str, Role)],
    /// The meaning of a [`Role::Call`] by the first word of its text; `*` matches the words not listed before it.
    /// Without `*`, those are statements.
    pub calls: &'static [(&'static str, Role)],
    /// Fields, kinds of children, or keywords that lead from a symbol to its name, tried in order and followed as long
    /// as one is there: `impl Foo<T>` -`type`-> `Foo<T>` -`type`-> `Foo`. The title of a type that none of them names
    /// is the words before its body.
    pub titles: &'static [&'static str],
    /// Kinds that are a name whole, though a title could lead further: `object$method`.
    pub names: &'static [&'static str],
    /// A field of a function, or of a step to its name, that names the type it is a method of, and the separator of the
    /// two in its title.
    pub owner: Option<(&'static str, &'static str)>,
    /// Kinds whose children, where they begin a line, are places to cut: blocks, match arms, large literals. A child of
    /// a symbol that has such a kind is its body if no field says which child is.
    pub bodies: &'static [&'static str],
    /// Kinds that announce a symbol if they come first in it, where no node is its body. They lead to its
    /// name.
    pub heads: &'static [&'static str],
    /// Kinds that are a place to cut inside a statement: `else`, `except`.
    pub clauses: &'static [&'static str],
    /// A statement of the first kind that holds only the second, at the top of a module or symbol,
    /// documents it.
    pub docstring: Option<(&'static str, &'static str)>,
    /// The start of a line comment, and its end in languages where it has one: `# `, `<!-- ` and ` -->`.
    pub comment: (&'static str, &'static str),
    /// The starts of comments that belong to the enclosing item, never to the symbol below: `//!`.
    pub inner_comments: &'static [&'static str],
    /// Types that are not symbols without a body, only announced: `struct Foo;` in C, `package foo` in Scala.
    pub announced: &'static [SymbolKind],
    /// Keywords and kinds of children that determine the kind of a type if its own kind does not: the grammar of Swift
    /// has a `class_declaration` for `struct` as well.
    pub type_words: &'static [(&'static str, SymbolKind)],
    /// Whether macros may stand where the grammar expects none, as in C.
    pub has_macros: bool,
    /// The opening of a heredoc, if the grammar aborts the process for a terminator longer than 255 characters: source
    /// with such a terminator is not parsed.
    pub limited_heredoc: Option<&'static str>,
    /// Whether a comment directly below an item documents it, unless another item is directly below the comment.
    pub has_comments_below: bool,
    /// Whether consecutive functions of one name are one function (the equations of Haskell).
    pub joins_equations: bool,
    /// Whether declarations inside a function are not symbols, since each of its values is a function.
    pub has_local_values: bool,
    /// The form of its lines, for repairing source whose syntax is broken.
    pub lines: Lines,
}

/// The form of a language's lines, as far as it shows where brackets are missing.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what a language is like, not one state of many")]
pub struct Lines {
    /// Words at the start of a line that `end` closes, in languages where `end` closes something. A `do` at the end
    /// of a line is always one.
    pub end_words: Option<&'static [&'static str]>,
    /// Replacements for lines, in languages whose blocks are defined by indentation.
    pub indentation: Option<Indentation>,
    /// Whether a single quote begins a character, not a string.
    pub has_characters: bool,
    /// Whether `<<WORD` begins a string that ends with a line of that word.
    pub has_heredocs: bool,
    /// Whether a line that begins with `#` is for a preprocessor.
    pub has_directives: bool,
    /// Whether `/*` and `*/` enclose comments though line comments do not begin with `//`.
    pub has_block_comments: bool,
    /// Whether `#` begins a line comment as well.
    pub has_hash_comments: bool,
    /// Whether a brace is a word separated by blanks, and `)` may close nothing, as in shells.
    pub is_shell: bool,
}

/// Replacements for lines in a language whose blocks are defined by indentation.
#[derive(Clone, Copy, Debug)]
pub struct Indentation {
    /// A statement that does nothing.
    pub nothing: &'static str,
    /// The first line of a block.
    pub opening: &'static str,
    /// A block that does nothing, on one line.
    pub empty: &'static str,
}

impl Lines {
    /// The base of the files in `src/lang`.
    pub const BASE: Self = Self {
        end_words: None,
        indentation: None,
        has_characters: false,
        has_heredocs: false,
        has_directives: false,
        has_block_comments: false,
        has_hash_comments: false,
        is_shell: false,
    };
}

/// The meaning of a kind of syntax for the outline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A statement, a field, or whatever has no role of its own.
    #[default]
    Statement,
    /// A comment: travels with what stands directly below it.
    Comment,
    /// A decorator, an attribute, a type signature: always travels with what follows. One at the top of a
    /// declaration's own node, or among its modifiers, is left out of its signature.
    Attribute,
    /// Documentation of the enclosing symbol: stays with the words that announce it.
    Doc,
    /// An import.
    Import,
    /// A function or macro: one block, in a section of its own. Inside a type it is a method. One without a
    /// name is a group.
    Function(SymbolKind),
    /// A statement that is a function if a call comes first in it: `f(x) = x + 1`.
    Equation,
    /// A type or module: a section with members. A module without a body is an import.
    Type(SymbolKind),
    /// A wrapper whose members count as if they stood in its place: a body, a list of declarations.
    Inline,
    /// As `Inline`, with words of its own before a single member that travel with it: `export`, `template <..>`.
    Wrapper,
    /// A statement that is the function, type or import which it holds directly, or inside others of this
    /// role: `const f = () => ..`.
    Binding,
    /// The part of a binding that makes it a function: `let f x = ..`, `const f = memo(..)`.
    Parameter,
    /// A call whose first word decides, by [`Language::calls`].
    Call,
    /// A macro that may stand around items, which count as if they stood in its place: `cfg_unix! { fn f() {} }`.
    ItemMacro,
    /// The end of the member above it: the bracket that closes an [`Role::ItemMacro`].
    End,
    /// A statement that may hold symbols (`if`, `try`): one block if it holds none, else opened.
    Group,
}

impl Language {
    /// An empty language: the base of the files in `src/lang`.
    pub const BASE: Self = Self {
        name: "",
        extensions: &[],
        file_names: &[],
        interpreters: &[],
        aliases: &[],
        grammar: || unreachable!("every language names its grammar"),
        roles: &[],
        own_roles: &[],
        calls: &[],
        titles: &["name"],
        names: &[],
        owner: None,
        bodies: &[],
        heads: &[],
        clauses: &[],
        docstring: None,
        comment: ("// ", ""),
        inner_comments: &[],
        announced: &[],
        type_words: &[],
        has_macros: false,
        limited_heredoc: None,
        has_comments_below: false,
        joins_equations: false,
        has_local_values: false,
        lines: Lines::BASE,
    };
}
