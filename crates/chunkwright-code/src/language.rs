//! What a language is: a grammar, and tables that give its kinds of syntax a meaning. Data only.

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
    /// What kinds of syntax mean for the outline; those not listed are [`Role::Statement`].
    pub roles: &'static [(&'static str, Role)],
    /// Roles beside `roles`, which a dialect has of the language it starts from. These come first.
    pub own_roles: &'static [(&'static str, Role)],
    /// What a [`Role::Call`] means by the first word of its text; `*` stands for the words not listed before
    /// it. Without that, they are statements.
    pub calls: &'static [(&'static str, Role)],
    /// Fields, kinds of children, or keywords that lead from a symbol to its name, tried in order and
    /// followed as long as one is there: `impl Foo<T>` -`type`-> `Foo<T>` -`type`-> `Foo`. A type that none
    /// of them names has the words before its body as title.
    pub titles: &'static [&'static str],
    /// Kinds that are a name whole, though a title could lead further: `object$method`.
    pub names: &'static [&'static str],
    /// A field of a function, or of what leads to its name, that says which type it is a method of, and
    /// what stands between the two in its title.
    pub owner: Option<(&'static str, &'static str)>,
    /// Kinds whose children, where they begin a line, are places to cut: blocks, match arms, large
    /// literals. One that is the child of a symbol is its body where no field says so.
    pub bodies: &'static [&'static str],
    /// Kinds that announce a symbol if they come first in it, where no node is its body. They lead to its
    /// name.
    pub heads: &'static [&'static str],
    /// Kinds that are a place to cut inside a statement: `else`, `except`.
    pub clauses: &'static [&'static str],
    /// A statement of the first kind that holds only the second, at the top of a module or symbol,
    /// documents it.
    pub docstring: Option<(&'static str, &'static str)>,
    /// How a line comment begins, and where such comments have an end, how it ends: `# `, `<!-- ` and ` -->`.
    pub comment: (&'static str, &'static str),
    /// How comments begin that belong to what is around them, never to the symbol below: `//!`.
    pub inner_comments: &'static [&'static str],
    /// Types that are no symbols without a body, only announced: `struct Foo;` in C, `package foo` in Scala.
    pub announced: &'static [SymbolKind],
    /// Keywords and kinds of children that say which kind of type a symbol is where its own kind does not:
    /// the grammar of Swift has a `class_declaration` for `struct` as well.
    pub type_words: &'static [(&'static str, SymbolKind)],
    /// Whether macros may stand where the grammar expects none, as in C.
    pub has_macros: bool,
    /// What begins a text that ends with a word of its author's choice, where the grammar ends the process
    /// for a word longer than 255 characters: source that has one is not parsed.
    pub limited_heredoc: Option<&'static str>,
    /// Whether a comment directly below something documents that, unless something stands directly below
    /// the comment.
    pub has_comments_below: bool,
    /// Whether functions of one name in a row are one function (the equations of Haskell).
    pub joins_equations: bool,
    /// Whether what a function declares inside is no symbol, since each of its values is a function.
    pub has_local_values: bool,
    /// What its lines look like, for repairing source whose syntax is broken.
    pub lines: Lines,
}

/// What the lines of a language look like, as far as that says where brackets are missing.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what a language is like, not one state of many")]
pub struct Lines {
    /// Words at the start of a line that `end` closes, in languages where `end` closes something. A `do` at the end
    /// of a line is always one.
    pub end_words: Option<&'static [&'static str]>,
    /// What can be written in place of a line, in languages whose blocks are known by indentation.
    pub indentation: Option<Indentation>,
    /// Whether a single quote begins a character, not a text.
    pub has_characters: bool,
    /// Whether `<<WORD` begins a text that ends with a line of that word.
    pub has_heredocs: bool,
    /// Whether a line that begins with `#` is for a preprocessor.
    pub has_directives: bool,
    /// Whether `/*` and `*/` enclose comments though line comments do not begin with `//`.
    pub has_block_comments: bool,
    /// Whether `#` begins a line comment as well.
    pub has_hash_comments: bool,
    /// Whether a brace is a word that blanks set apart, and `)` may close nothing, as in shells.
    pub is_shell: bool,
}

/// What stands for a line in a language whose blocks are known by indentation.
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
    /// What the files of `src/lang` start from.
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

/// What a kind of syntax means for the outline.
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
    /// What documents the symbol around it: stays with the words that announce that.
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
    /// What stands around members that count as if they stood in its place: a body, a list of declarations.
    Inline,
    /// As `Inline`, with words of its own before a single member that travel with it: `export`, `template <..>`.
    Wrapper,
    /// A statement that is the function, type or import which it holds directly, or inside others of this
    /// role: `const f = () => ..`.
    Binding,
    /// What a binding holds if it is a function: `let f x = ..`.
    Parameter,
    /// A call whose first word decides, by [`Language::calls`].
    Call,
    /// A macro that may stand around items, which count as if they stood in its place: `cfg_unix! { fn f() {} }`.
    ItemMacro,
    /// What belongs to the member above it: the bracket that closes an [`Role::ItemMacro`].
    End,
    /// A statement that may hold symbols (`if`, `try`): one block if it holds none, else opened.
    Group,
}

impl Language {
    /// A language that says nothing: what the files of `src/lang` start from.
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
