"""The display of notebooks: complete where it is short, bounded where it is long, and never markup of a document."""

from __future__ import annotations

import re
import subprocess
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import chunkwright as cw
from chunkwright import _notebook
from conftest import CORPUS

TAGS = {"div", "span", "b", "pre", "table", "thead", "tbody", "tr", "th", "td"}
ATTRIBUTES = {"style", "title", "role", "aria-label"}


class Page(HTMLParser):
    """What a browser makes of HTML: elements with attributes, and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.rows: list[list[str]] = []
        self.comments: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []
        assert set(self.tags) <= TAGS
        assert {name for name, _ in self.attributes} <= ATTRIBUTES
        assert self.comments == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open and self.open[-1] in ("th", "td"):
            self.rows[-1][-1] += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def handle_decl(self, decl: str) -> None:
        self.comments.append(decl)


def page(value: Any) -> Page:
    return Page(value._repr_html_())


def test_chunks_are_shown_with_text_place_size_and_reason() -> None:
    chunks = cw.chunk(CORPUS / "en" / "bread.md")
    shown = page(chunks)
    for chunk in chunks:
        assert chunk.content in shown.text
        assert f"lines {chunk.start_line}-{chunk.end_line}" in shown.text
        assert f"{chunk.token_count} tokens" in shown.text
        assert chunk.header_path in shown.text
        assert chunk.cut in shown.text
    assert "Several small sections, of which the first begins here, were joined." in shown.text
    total = sum(chunk.token_count for chunk in chunks)
    assert f"{len(chunks)} chunks of 1 document, {total:,} tokens" in shown.text
    # The bars of the histogram count every chunk once.
    bars = [value for name, value in shown.attributes if name == "title" and " to " in value]
    assert sum(int(bar.rsplit(": ")[1].split()[0]) for bar in bars) == len(chunks)


def test_borrowed_context_is_dimmed_and_own_text_is_not() -> None:
    chunk = next(chunk for chunk in cw.chunk(CORPUS / "zh" / "green-tea.md", max_size=64) if chunk.context)
    html = chunk._repr_html_()
    assert page(chunk).text.count(chunk.content) == 1
    dimmed = re.search(r'<span title="borrowed context" style="opacity:.5">(.*?)</span>(.*?)</pre>', html, re.DOTALL)
    assert dimmed and dimmed[1] + dimmed[2] == chunk.text


def test_every_reason_of_a_cut_has_a_sentence() -> None:
    texts = ["# A\n\n" + "One two three. " * 200 + "\n\n| a | b |\n|---|---|\n" + "| c | d |\n" * 200]
    for chunk in [*cw.chunk(CORPUS, max_size=32), *cw.chunk_text(texts[0], max_size=16)]:
        assert _notebook._reasons()[chunk.cut] in page(chunk).text


@settings(max_examples=60, deadline=None)
@given(
    st.text(st.sampled_from("<>&\"'`/=! abцß字\n#-;:"), max_size=200),
    st.text(st.sampled_from("<>&\"'ab.md"), min_size=1),
)
def test_no_text_of_a_document_becomes_markup(text: str, name: str) -> None:
    attack = (
        f"# <script>alert(1)</script>{text}\n\n<img src=x onerror='alert(1)'>{text}\n\n--><!-- &lt;b&gt; \"'>{text}"
    )
    chunks = cw.chunk_text(attack, name=f"<b>{name}.md", max_size=64)
    shown = page(chunks)
    assert all(chunk.content in shown.text for chunk in chunks)
    rows = [
        {attack: attack, "list": [attack], "dict": {attack: attack}, "nested": [{"a": attack}], "of": {"of": [attack]}}
    ]
    Page(_notebook.table(rows))
    Page(_notebook.answer({attack: attack, f"{attack}2": rows}))
    for answer in (cw.explain(attack, name="a.md"), cw.outline(attack, name="a.md"), cw.preview(attack, name="a.md")):
        page(answer)


def test_displays_need_no_network_and_set_no_colour_of_text() -> None:
    html = cw.chunk(CORPUS / "code")._repr_html_() + cw.stats(CORPUS)._repr_html_()
    styles = ";".join(value for name, value in Page(html).attributes if name == "style")
    assert "url(" not in styles
    assert set(re.findall(r"(?<![-\w])color:([^;]*)", styles)) <= {"inherit"}
    # Tints let the background of the theme through.
    alphas = [float(alpha) for alpha in re.findall(r"rgba\(\d+,\d+,\d+,([\d.]+)\)", styles)]
    assert alphas and all(alpha < 1 for alpha in alphas)
    assert set(re.findall(r"background:([a-z]*)", styles)) <= {"rgba", "none"}


def test_long_lists_and_long_texts_are_bounded() -> None:
    chunk = cw.chunk(CORPUS / "en" / "bread.md")[0]
    huge = cw.chunk_text("word " * 200_000, max_size=1_000_000, tokenizer="words")[0]
    start = time.monotonic()
    many = Page(_notebook.chunks([chunk] * 100_000))
    assert "and 99,900 chunks more" in many.text and many.text.count(chunk.content) == 100
    html = _notebook.chunks([huge] * 200)
    assert len(html) < 700_000
    assert f"({len(huge.text) - 4_000:,} more characters)" in Page(html).text
    rows = [{"row": number, "text": "x" * 10_000, **{f"c{n}": n for n in range(60)}} for number in range(1_000)] * 100
    html = _notebook.table(rows)
    assert len(html) < 1_000_000
    assert "and 99,900 rows more" in Page(html).text and "and 22 columns more" in Page(html).text
    assert time.monotonic() - start < 60


def test_a_table_has_a_row_for_each_dictionary_and_a_column_for_each_name() -> None:
    rows = [
        {"name": "a", "size": 1234, "share": 0.123456, "whole": True, "list": [1, 2], "none": None},
        {"name": "b", "more": {"x": 1, "y": [1, 2]}, "rows": [{"z": 1}, {"z": 2}]},
    ]
    shown = Page(_notebook.table(rows)).rows
    assert shown[0] == ["name", "size", "share", "whole", "list", "none", "more", "rows"]
    assert shown[1] == ["a", "1,234", "0.1235", "yes", "1, 2", "", "", ""]
    assert shown[2] == ["b", "", "", "", "", "", "x: 1, y: [1, 2]", "2 items"]
    assert Page(_notebook.table([])).text == "no rows"
    assert page(cw.chunk_text(" ", name="a.md")).text == "no chunks"


def test_a_diff_an_explanation_an_outline_and_statistics_are_tables(tmp_path: Path) -> None:
    old, new = tmp_path / "old.md", tmp_path / "bread.md"
    text = (CORPUS / "en" / "bread.md").read_text()
    old.write_text(text)
    new.write_text(text.replace("\n\n", "\n\nUpdated in spring.\n\n", 1))
    diff = cw.diff(old, new)
    shown = page(diff)
    (head,) = [row for row in shown.rows if "kind" in row]
    kinds = [row[head.index("kind")] for row in shown.rows[shown.rows.index(head) + 1 :]]
    assert kinds == [change.kind for change in diff.changes] and "changed" in kinds

    explanation = cw.explain(old, line=41)
    assert explanation[0].begins in page(explanation).text and explanation[0].ends in page(explanation).text
    outline = cw.outline(old)
    assert len(page(outline).rows) == len(outline) + 1
    assert "chunks" in page(cw.stats(old)).text


def test_hits_of_a_search_are_shown(corpus: Path) -> None:
    index = cw.Index(corpus / "en")
    answer = index.answer("how are hives fed?", k=3)
    shown = page(answer)
    assert "beekeeping.md" in shown.text
    assert "beekeeping.md" in page(index.search("how are hives fed?", k=3)[0]).text


def test_a_summary_of_source_code_shows_what_was_written_about_it() -> None:
    summaries = [chunk for chunk in cw.chunk(CORPUS / "code" / "tides.py", summaries=True) if chunk.artifact]
    assert summaries
    for summary in summaries:
        shown = page(summary)
        assert summary.text in shown.text and summary.artifact in shown.text


def test_displaying_imports_no_other_library() -> None:
    import sys

    script = (
        "import sys, chunkwright as cw\n"
        "cw.chunk_text('# A', name='a.md')._repr_html_()\n"
        "print([name for name in ('pandas', 'pyarrow', 'tqdm', 'IPython', 'numpy') if name in sys.modules])\n"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "[]"
