//! Texts and configurations that tests share.

use std::sync::Arc;

use chunkwright::preset::PRESETS;
use chunkwright::{Chars, ChunkConfig, Chunker, STRATEGIES, TokenCounter, Unit, Words};

use crate::invariants::Quads;

/// Documents in three languages with everything that Markdown has, and one of each other format.
pub(crate) const SAMPLES: &[(&str, &str)] = &[
    ("english.md", include_str!("../samples/english.md")),
    ("chinese.md", include_str!("../samples/chinese.md")),
    ("russian.md", include_str!("../samples/russian.md")),
    ("manual.rst", include_str!("../samples/manual.rst")),
    ("page.html", include_str!("../samples/page.html")),
    ("wells.ipynb", include_str!("../samples/wells.ipynb")),
    ("guide.adoc", include_str!("../samples/guide.adoc")),
    ("paper.tex", include_str!("../samples/paper.tex")),
    ("package.json", include_str!("../samples/package.json")),
    ("records.jsonl", include_str!("../samples/records.jsonl")),
    ("workflow.yaml", include_str!("../samples/workflow.yaml")),
    ("project.toml", include_str!("../samples/project.toml")),
    ("orders.csv", include_str!("../samples/orders.csv")),
    ("notes.org", include_str!("../samples/notes.org")),
    ("film.srt", include_str!("../samples/film.srt")),
    ("server.log", include_str!("../samples/server.log")),
    ("button.mdx", include_str!("../samples/button.mdx")),
    ("letter.txt", include_str!("../samples/letter.txt")),
];

/// Syntax of one format each, by the name of its parser: pieces that make trouble when they meet.
pub(crate) const SYNTAX: &[(&str, &[&str])] = &[
    ("markdown", MARKDOWN),
    ("mdx", MDX),
    ("html", HTML),
    ("notebook", NOTEBOOK),
    ("rst", RST),
    ("asciidoc", ASCIIDOC),
    ("latex", LATEX),
    ("json", JSON),
    ("jsonl", JSON),
    ("yaml", YAML),
    ("toml", TOML),
    ("csv", CSV),
    ("org", ORG),
    ("subtitles", SUBTITLES),
    ("log", LOG),
    ("text", TEXT),
];

const LATEX: &[&str] = &[
    "\\section{A}\n",
    "\\section*[a]{A {b} \\emph{c}}\n",
    "\\subsection{never closed\n",
    "\\paragraph{P.} text\n",
    "\\title{T}\n",
    "\\part{}\n",
    "\\begin{document}\n",
    "\\begin{verbatim}\n",
    "\\end{verbatim}\n",
    "\\begin{itemize}\n\\item a\n",
    "\\end{itemize}\n",
    "\\begin{tabular}{l}\n1 \\\\\n",
    "\\end{tabular} after\n",
    "\\begin{",
    "\\end{}\n",
    "% \\section{no}\n",
    "a % b\n",
    "\\",
    "{",
    "}\n",
    "\\label{x}",
];

const MARKDOWN: &[&str] = &[
    "---\ntitle: a\ntags:\n  - b\nid: 1\n---\n",
    "{\n\"title\": \"a\", \"b\": [1]\n}\n",
    "+---+---+\n| a | b |\n+===+===+\n",
    "+---+\n",
    "<h2 id=\"a\">A <b>b</b></h2> after\n",
    "<div><h1>\n",
    "-----BEGIN A-----\niVBORw0KGgoAAAANSUhEUgAAAAE00iVBORw0KGgoAAAANSUhEUgAAAAE00aaaa\n",
    "---\ntitle: a\n---\n",
    "---\n",
    "Title\n=====\n",
    "Title\n---\n",
    "####### seven\n",
    "#\n",
    "# closed #\n",
    "```\n",
    "~~~~ python\n```\n",
    "    ```\n",
    "> ```\n> in a quote\n",
    "- ```\n  in a list\n",
    "> > > deep\nlazy\n",
    "1. a\n1. b\n\n   c\n",
    "- [ ] task\n",
    "| a | b |\n|--|:-:|\n| 1 \\| 2 | `|` |\n",
    "|-|\n",
    "<details>\n<summary>s</summary>\n\n# inside\n\n</details>\n",
    "<!-- open\n",
    "-->\n",
    "[a]: <b> 'title\n",
    "[^n]: note\n    more\n",
    "\\\n",
    "***\n",
    "text  \nbreak\\\nend\n",
    "$$\nx\n$$\n",
];

const MDX: &[&str] = &[
    "export const a = `\n\n# b ${",
    "}`\n\n",
    "{/*\n\n*/}\n\n",
    "import { Tabs } from './tabs'\n",
    "import {\n  a,\n} from 'b'\n\n",
    "export const meta = { title: '# not' }\n",
    "export default function A() {\n  return <p>\n",
    "  </p>\n}\n",
    "<Tabs items={[1, 2]}>\n",
    "<Tab>\n\n## inside\n\n</Tab>\n",
    "</Tabs>\n",
    "<Note />\n",
    "<>\n",
    "</>\n",
    "{/* comment */}\n",
    "{/* open\n",
    "{'}'}\n",
    "{\n",
    "}\n",
    "a < b and <b\n",
    "```jsx live\n<A />\n```\n",
];

const TEXT: &[&str] = &[
    "one line\n",
    "\n\n\n",
    "a very-long_token_without/blanks",
    "\u{c}page\n",
    "    indented\n\ttab\n",
    "1) first\n2) second\n",
    "====\n",
    "трепет. Ёлка! ",
    "这是一句话。那是另一句？",
    "مرحبا بالعالم. ",
    "e\u{301}\u{200d}👩‍🚀",
    "\u{0}\u{1b}[31m",
    "\u{2028}\u{2029}\u{85}",
];

const HTML: &[&str] = &[
    "---\ntitle: a\nid: 1\n---\n",
    "<table role=none><tr><td>",
    "<td rowspan=2 colspan=3>a | b",
    "<td><h2>a</h2>b<table><tr><td>",
    "<th colspan=2>a",
    "<table><thead><tr><th>a</th><th>b</th><th>c</th></tr></thead></table>",
    "<h1>One</h1>",
    "<h2 id=a>Two &amp; a half</h2>\n",
    "<p>para",
    "</p>",
    "<p>text  \n <b>bold</b> </p>\n",
    "<ul>\n  <li>item\n",
    "</li>",
    "</ul>",
    "<ol start=7><li><p>a</p><p>b</p></li></ol>",
    "<blockquote>",
    "</blockquote>",
    "<dl><dt>t<dd>d</dl>",
    "<table>",
    "<tr><th>a<th>b</tr>",
    "<tr><td>1</td><td>2</td></tr>\n",
    "<td>",
    "</table>",
    "<table><tr><td><table><tr><td>in</table></table>",
    "<pre>\n",
    "</pre>",
    "<pre class=language-c>a &lt; b\n```\n</pre>\n",
    "<code>c</code>",
    "<script>if (a < b) '</p>'",
    "</script>",
    "<style>",
    "<!-- c",
    "-->",
    "<title>T",
    "</title>",
    "<br>",
    "<img alt='an image'>",
    "<div\n class='",
    "'>",
    "</div>",
    "&nbsp;",
    "&amp",
    "&#x4e2d;",
    "&bogus;",
    "<![CDATA[x]]>",
    "<?php echo 1 ?>",
    "<",
    "</",
    "<svg><title>x</title></svg>",
];

const NOTEBOOK: &[&str] = &[
    "{\"cells\": [",
    "]}",
    "{\"cells\":[{\"cell_type\":\"markdown\",\"source\":[\"# T\\n\",\"\\n\",\"text\"]}]}",
    "{\"cell_type\": \"code\", \"source\": \"a\\nb\\u00e9\\ud83d\\ude00\"}",
    ",",
    "\n",
];

const RST: &[&str] = &[
    "Title\n=====\n",
    "====\n題名\n====\n",
    "==\nlong title\n==\n",
    ".. _label:\n\n",
    "Text::\n\n    code\n\n    more code\n",
    "Text::\n\n> quoted\n> code\n",
    ".. code-block:: rust\n   :a: b\n\n   fn main() {}\n\n   x\n",
    ".. note:: Text\n   more.\n\n   * item\n\n     .. code::\n\n        x\n",
    "+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+\n| 3 | 4 |\n+---+---+\n",
    "+---+\n| a\n",
    "== ==\na  b\n== ==\n1  2\n3  4\n== ==\n",
    "== ==\n",
    ".. list-table::\n   :header-rows: 1\n\n   * - a\n     - b\n   * - 1\n     - 2\n",
    ".. csv-table:: c\n\n   a,b\n   1,2\n",
    "..\n",
    ".. comment\n   goes on\n",
    ".. [#f] note\n",
    ":field: value\n",
    "* a\n\n  1. b::\n\n      c\n",
    "term\n  meaning\n",
    "-a  option\n",
    ">>> 1\n",
    "| line\n",
    "----\n\n",
    "    quote\n",
    "::\n\n",
];

const ASCIIDOC: &[&str] = &[
    "= Title\nA. Writer\n:toc:\n\n",
    "== 章節 ==\n",
    "Two lines\n---------\n",
    "[[id]]\n[source,rust]\n.Caption\n",
    "----\n",
    "....\n",
    "====\n",
    "****\n",
    "--\n",
    "|===\n",
    "```rust\n",
    "////\n",
    "// comment\n",
    "[NOTE]\n====\ntext\n\n----\ncode\n----\n====\n",
    "[%header,cols=\"1,2\"]\n|===\n|a |b\n\n|1\n|2\n\n|3 |4\n|===\n",
    ",===\na,b\n1,2\n,===\n",
    "* item\n** nested\n+\n----\ncode\n----\n",
    ". one\n. two\n+\nmore\n",
    "term:: meaning\n",
    "<1> callout\n",
    "+\n",
    "NOTE: text\n",
    ":attr: value\n",
    "ifdef::x[]\n",
    "image::a.png[]\n",
    "[discrete]\n== Not a section\n",
    " literal\n",
    "'''\n",
];

const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",\n",
    "\"key\": ",
    "\"a\\\"b\\u00e9\": {\"name\": \"x\", \"c\": [1, 2.5, null]},\n",
    "{\"id\": 1, \"text\": \"一段\"}\n",
    "// comment\n",
    "/* comment\n",
    "*/",
    "\"unclosed\n",
    "'single',",
    "bare: true,\n",
    "[[[[[[[[",
    "{\"a\":{\"b\":{\"c\":{\"d\":1}}}}\n",
    ",\u{301},",
    "[{\"a\": [{}]}, {\"b\": []}]",
];

const YAML: &[&str] = &[
    "key: value\n",
    "key:\n",
    "  nested: 1\n",
    "    deeper:\n",
    "- item\n",
    "  - name: x\n    with:\n      a: b\n",
    "- - - a\n",
    "text: |\n  line: one\n\n    line two\n",
    "flow: {a: 1,\n  b: [2,\n  3]\n}\n",
    "\"quoted: key\": 'value\n  goes on'\n",
    "quoted: \"goes on\nat the start\"\n",
    "open: 'never closed\n",
    "# comment\n",
    "---\n",
    "...\n",
    "&a !tag\n",
    "? complex\n",
    "{{- if .x }}\n",
    "\tkey: tab\n",
    "键: 值\n",
    ":\n",
    "- \n",
];

const TOML: &[&str] = &[
    "[table]\n",
    "[table.sub.\"quoted.part\"]\n",
    "[[array]]\n",
    "[[array.inner]]\n",
    "[array.table]\n",
    "key = 1\n",
    "a.b = \"x\" # comment\n",
    "list = [\n  1, # one\n  \"]\",\n]\n",
    "list = [\n",
    "text = \"\"\"\na = 1\n[no]\n\"\"\"\n",
    "raw = '''\n",
    "# comment\n",
    "[.]\n",
    "[[]]\n",
    "[unclosed\n",
    "\"键\" = { a = 1 }\n",
    "=\n",
];

const CSV: &[&str] = &[
    "name,value,text\n",
    "1;2;3\n",
    "a\tb\tc\r\n",
    "\"quoted, with \"\"marks\"\"\nand a line\",2\n",
    "\"unclosed,\n",
    ",,,\n",
    ",\u{301},\n",
    "\"\"\n",
    "sep=;\n",
    "城市|人口\n",
    " \"a\" ,b\n",
];

const ORG: &[&str] = &[
    "* TODO [#A] Title [1/2] :tag:other:\nSCHEDULED: <2026-01-01>\n:PROPERTIES:\n:ID: x\n:END:\n",
    "******** deep\n",
    "** \n",
    "#+TITLE: x\n#+TODO: NEW | OLD\n",
    "#+CAPTION: c\n#+NAME: n\n",
    "#+BEGIN_SRC rust\nfn a() {}\n#+END_SRC\n",
    "#+begin_quote\ntext\n\nmore\n",
    "#+end_quote\n",
    ":drawer:\n",
    ":END:\n",
    "|---|\n| a | b |\n|---+---|\n| 1 | 2 |\n#+TBLFM: x\n",
    "| c |\n",
    "- item\n  - nested\n\n    #+begin_src\n    x\n    #+end_src\n",
    "  * star\n",
    "1) number\n",
    ": fixed\n",
    "# comment\n",
    "[fn:1] note\n",
    "-----\n",
];

const SUBTITLES: &[&str] = &[
    "WEBVTT - title\n",
    "1\n00:00:01,000 --> 00:00:02,000\nText\n\n",
    "00:01.000 --> 00:02.000 align:start\n- 文字\n",
    "0:00:01.000,0:00:02.000\ntext\n",
    "name\n",
    "-->\n",
    "STYLE\n::cue {}\n\n",
    "NOTE x\n",
];

const LOG: &[&str] = &[
    "2026-01-02T03:04:05Z INFO started\n",
    "[ERROR] failed\n",
    "    at main.rs:1\n",
    "Caused by: x\n",
    "Jan  2 03:04:05 host app: text\n",
    "127.0.0.1 - - [02/Jan/2026:03:04:05 +0000] \"GET /\"\n",
    "{\"level\": \"info\"}\n",
];

/// Counters: every one of this crate, and one whose counts do not add up.
pub(crate) fn counters() -> Vec<Arc<dyn TokenCounter>> {
    vec![Arc::new(Chars), Arc::new(Words), Arc::new(Quads)]
}

/// A chunker for every preset and every strategy at a few sizes and units, with each counter.
pub(crate) fn chunkers() -> Vec<Chunker> {
    let mut configs: Vec<ChunkConfig> = PRESETS.iter().map(|preset| (preset.config)()).collect();
    for strategy in STRATEGIES {
        for (max_size, min_size, overlap_size) in [(16, 4, 0), (40, 10, 12), (120, 30, 0), (2000, 400, 0)] {
            for unit in [Unit::Chars, Unit::Tokens] {
                let strategy = strategy.name().to_owned();
                let target_size = max_size * 3 / 4;
                configs.push(ChunkConfig {
                    strategy,
                    unit,
                    max_size,
                    min_size,
                    target_size,
                    overlap_size,
                    ..ChunkConfig::default()
                });
            }
        }
    }
    let chunker = |config: &ChunkConfig, counter| Chunker::new(config.clone(), counter).unwrap();
    configs.iter().flat_map(|config| counters().into_iter().map(|counter| chunker(config, counter))).collect()
}
