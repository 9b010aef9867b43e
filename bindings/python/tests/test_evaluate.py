"""Evaluation: each way of cutting is measured on the same documents by the same search, other libraries' too."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

import chunkwright as cw
from chunkwright import _chunkwright, _evaluate
from conftest import CORPUS, REPOSITORY, toy_vectors

QUESTIONS = REPOSITORY / "examples" / "questions.jsonl"


def paragraphs(text: str) -> list[str]:
    return re.split(r"\n\n+", text)


@pytest.fixture(autouse=True)
def _no_warning(recwarn: pytest.WarningsRecorder) -> Any:
    yield
    told = [str(warning.message) for warning in recwarn if warning.category is UserWarning]
    assert [sentence for sentence in told if not sentence.startswith("the git history of")] == []


def of_way(result: cw.Answer, way: str) -> cw.Answer:
    (line,) = [line for line in result.retrieval if line.way == way]
    return line


def test_each_way_has_a_row_in_the_order_in_which_they_are_given() -> None:
    recursive = RecursiveCharacterTextSplitter(chunk_size=800, chunk_overlap=80)
    ways: dict[str, Any] = {"mine": recursive, "auto": "auto", "small": {"max_size": 128}, "para/graphs": paragraphs}
    result = cw.evaluate(QUESTIONS, CORPUS, ways, ks=[1, 5], budgets=[1000])
    assert [line.way for line in result.retrieval] == list(ways)
    frame = result.to_pandas()
    assert list(frame.way) == list(ways)
    assert {"mode", "chunks", "mean", "p95", "max", "R@1000", "recall@1", "recall@5"} <= set(frame.columns)
    assert frame["R@1000"].between(0, 1).all() and frame["recall@5"].min() > 0.5
    assert (result.run.questions, result.run.documents, result.run.baseline) == (87, 22, "auto")
    assert of_way(result, "para/graphs").sizes.chunks == sum(
        1 for path in CORPUS.rglob("*.*") for text in paragraphs(path.read_text()) if text.strip()
    )

    rows = result.measures
    assert {row.way for row in rows if "difference" in row} == set(ways) - {"auto"}
    for row in rows:
        assert row.low <= row.value <= row.high
        if "difference" in row:
            baseline = of_way(result, "auto").measures[row.measure].mean
            assert row.difference == pytest.approx(row.value - baseline)
            assert row.beyond_noise == (row.difference_low > 0 or row.difference_high < 0)
    assert "mine" in result._repr_html_() and "87 questions" in repr(result)


def test_keys_measure_as_the_preset_of_the_settings_with_those_keys() -> None:
    lines = [json.loads(line) for line in QUESTIONS.read_text().splitlines()]
    questions = [line for line in lines if str(line["doc_id"]).endswith(".md")]
    of_settings = cw.evaluate(questions, CORPUS, {"it": "auto"}, max_size=128, include="*.md")
    of_keys = cw.evaluate(questions, CORPUS, {"it": {"max_size": 128}}, include="*.md")
    expected, measured = of_way(of_settings, "it"), of_way(of_keys, "it")
    assert measured.sizes.chunks == expected.sizes.chunks
    for measure, value in expected.measures.items():
        assert measured.measures[measure].mean == pytest.approx(value.mean, abs=0.02), measure


def test_splitters_of_other_libraries_are_measured_as_they_are() -> None:
    import chonkie
    import semantic_text_splitter
    import semchunk
    from llama_index.core.node_parser import SentenceSplitter

    ways = {
        "headers": MarkdownHeaderTextSplitter([("#", "one"), ("##", "two")]),
        "start_index": lambda text: RecursiveCharacterTextSplitter(add_start_index=True).create_documents([text]),
        "llama": SentenceSplitter(chunk_size=256, chunk_overlap=0),
        "chonkie": chonkie.RecursiveChunker(tokenizer="character", chunk_size=800),
        "semantic": semantic_text_splitter.MarkdownSplitter(800),
        "semchunk": semchunk.chunkerify(lambda text: len(text.split()), 150),
        "chunkwright": lambda text: cw.chunk_text(text),
        "dictionaries": lambda text: [{"text": text, "start_char": 0}],
    }
    result = cw.evaluate(QUESTIONS, CORPUS, ways, budgets=[1000], ks=[5])
    # Without a preset, that of the settings is what differences are to.
    assert [line.way for line in result.retrieval] == ["auto", *ways]
    for line in result.retrieval:
        assert line.sizes.covered > (0.8 if line.way == "headers" else 0.99), line.way
        assert line.measures["R@1000"].mean > 0.5, line.way
    assert of_way(result, "dictionaries").sizes.chunks == 22


def test_texts_are_embedded_by_the_function_and_its_name_is_in_the_report() -> None:
    given: list[str] = []

    def embed(texts: list[str]) -> list[list[float]]:
        given.extend(texts)
        return toy_vectors(texts)

    result = cw.evaluate(
        QUESTIONS, CORPUS, {"auto": "auto", "mine": paragraphs}, embed=embed, modes=["dense", "lexical"]
    )
    assert [(line.mode, line.way) for line in result.retrieval] == [
        ("dense", "auto"),
        ("dense", "mine"),
        ("lexical", "auto"),
        ("lexical", "mine"),
    ]
    assert "embed" in result.run.embedder
    assert set(cw.chunk(CORPUS).texts) <= set(given)


def test_questions_are_a_file_or_what_its_lines_hold(corpus: Path) -> None:
    lines = [json.loads(line) for line in QUESTIONS.read_text().splitlines()]
    of_file = cw.evaluate(str(QUESTIONS), CORPUS, {"a": "auto", "b": paragraphs})
    assert cw.evaluate(lines, CORPUS, {"a": "auto", "b": paragraphs}).retrieval == of_file.retrieval
    # A file of questions that lies among the documents is not one of them.
    inside = corpus / "questions.jsonl"
    inside.write_text(QUESTIONS.read_text())
    assert cw.evaluate(inside, corpus, {"a": "auto", "b": paragraphs}).retrieval == of_file.retrieval


def test_edits_and_single_questions_are_lines_of_their_way() -> None:
    ways: dict[str, Any] = {"a": "auto", "b": "recursive", "c": paragraphs}
    result = cw.evaluate(QUESTIONS, CORPUS, ways, edits={"drawn": 3}, per_question=True, seed=1)
    assert {line.way for line in result.stability} == {"a", "b"}
    assert {line.way for line in result.questions} == {"a", "b", "c"}
    without_questions = cw.evaluate(None, CORPUS, {"a": "auto"}, edits={"drawn": 3})
    assert without_questions.stability and without_questions.run.questions == 0


def test_one_preset_under_two_names_and_all_presets() -> None:
    result = cw.evaluate(QUESTIONS, CORPUS, {"one": "auto", "two": "auto"})
    assert [line.way for line in result.retrieval] == ["one", "two"]
    every = cw.evaluate(QUESTIONS, CORPUS, {"all of them": "all"})
    assert [line.way for line in every.retrieval][:2] == ["auto", "stable"]
    # A way of that name is told apart from the preset of the settings.
    clash = cw.evaluate(QUESTIONS, CORPUS, {"auto": paragraphs})
    assert [line.way for line in clash.retrieval] == ["auto (settings)", "auto"]


def test_what_a_splitter_raises_the_call_raises() -> None:
    def fails(text: str) -> list[str]:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        cw.evaluate(QUESTIONS, CORPUS, {"a": fails})
    with pytest.raises(KeyError, match="mine"):
        cw.evaluate(QUESTIONS, CORPUS, {"a": "auto"}, embed=fails)


def test_what_cannot_be_a_way_says_what_can() -> None:
    with pytest.raises(TypeError, match="the way `a` is an object of `int`; it must be a preset's name, a dictionary"):
        cw.evaluate(QUESTIONS, CORPUS, {"a": 5})
    with pytest.raises(TypeError, match="the way `a` returned an object of `int`; a chunk must be text"):
        cw.evaluate(QUESTIONS, CORPUS, {"a": lambda text: [5]})
    with pytest.raises(cw.RequestError, match="the way `a` made no chunk"):
        cw.evaluate(QUESTIONS, CORPUS, {"a": lambda text: []})
    with pytest.raises(cw.SettingsError, match="nonsense"):
        cw.evaluate(QUESTIONS, CORPUS, {"a": "nonsense"})
    with pytest.raises(cw.SettingsError, match="nonsense"):
        cw.evaluate(QUESTIONS, CORPUS, {"a": {"nonsense": 1}})
    with pytest.raises(cw.RequestError, match="absent.jsonl"):
        cw.evaluate("absent.jsonl", CORPUS, {"a": "auto"})


def test_no_document_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(cw.RequestError, match="no document") as raised:
        cw.evaluate(QUESTIONS, tmp_path / "empty", {"a": "auto"})
    assert raised.value.code == "invalid_request"
    with pytest.raises(cw.RequestError):
        cw.tune(tmp_path / "empty")


def test_lines_that_cannot_be_used_are_warned_of() -> None:
    lines: list[dict[str, Any]] = [{"question": "When?", "doc_id": "absent.md", "excerpt": "x"}] * 12
    lines += [json.loads(line) for line in QUESTIONS.read_text().splitlines()]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = cw.evaluate(lines, CORPUS, {"a": "auto", "rewritten": lambda text: [text.upper(), "no such text"]})
    told = [str(warning.message) for warning in caught if warning.category is UserWarning]
    assert "line 1: there is no document `absent.md`" in told[0]
    assert told[-1] == "and 3 more"
    assert result.run.refused == 12
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cw.evaluate(QUESTIONS, CORPUS, {"a": "auto", "rewritten": lambda text: ["no such text"]})
    (told,) = [str(warning.message) for warning in caught if warning.category is UserWarning]
    assert "in `rewritten`" in told and "is not in the document" in told
    assert all(
        Path(warning.filename).name == "test_evaluate.py" for warning in caught if warning.category is UserWarning
    )


def test_every_member_of_the_request_has_a_keyword() -> None:
    import inspect

    members = set(_chunkwright.schema("EvaluateRequest")["properties"])
    keywords = set(inspect.signature(cw.evaluate).parameters)
    # These are made of `questions`, `source` and `ways`.
    assert members - keywords == {"inline", "collection", "presets", "chunks"}
    settings = set(cw.keys()["properties"])
    assert not settings & (keywords | set(inspect.signature(cw.tune).parameters))


def test_tuning_proposes_settings_and_measures_candidates() -> None:
    tuning = cw.tune(CORPUS, presets=["auto", "recursive"], sizes=[128], max_questions=20, seed=3)
    assert tuning.proposal.preset in ("auto", "recursive") and "preset" in tuning.proposal.toml
    assert tuning.proposal.questions <= 20
    frame = tuning.to_pandas()
    assert set(frame.preset) == {"auto", "recursive"} and frame["R@1000"].between(0, 1).all()
    by_people = cw.tune(
        CORPUS,
        questions=[json.loads(QUESTIONS.read_text().splitlines()[0])],
        presets=["auto"],
        embed=toy_vectors,
    )
    assert by_people.proposal.questions == 1 and by_people.proposal.mode == "hybrid"


def test_tuning_warns_of_questions_without_a_path_of_ours() -> None:
    lines = [
        {"question": "When?", "doc_id": "absent.md", "excerpt": "x"},
        json.loads(QUESTIONS.read_text().splitlines()[0]),
    ]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cw.tune(CORPUS, questions=lines, presets=["auto"])
    told = [str(warning.message) for warning in caught if warning.category is UserWarning]
    assert any(sentence.startswith("`questions`, line 1: ") for sentence in told), told
    with pytest.raises(
        cw.RequestError, match="no question of `questions` can be asked.*there is no document `absent.md`"
    ):
        cw.tune(CORPUS, questions=lines[:1], presets=["auto"])


def test_blank_pieces_are_left_out_and_any_file_is_split(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"# Bread\r\n\r\nFold it four times.\r\n")
    (tmp_path / "b.html").write_text("<h1>Tea</h1>\n<p>Pour at 80 degrees.</p>\n")
    (tmp_path / "empty.md").write_text("")
    questions = [
        {"question": "how often is it folded?", "doc_id": "a.md", "excerpt": "four times"},
        {"question": "how hot?", "doc_id": "b.html", "lines": "L2"},
    ]
    lines = lambda text: text.split("\n")  # noqa: E731
    result = cw.evaluate(questions, tmp_path, {"auto": "auto", "lines": lines})
    assert (result.run.documents, result.run.questions, result.run.refused) == (3, 2, 0)
    assert of_way(result, "lines").sizes.chunks == 4 and of_way(result, "lines").sizes.covered == 1


def test_positions_that_a_splitter_does_not_know_are_looked_up() -> None:
    row = _evaluate._placed("a", "b.md", {"page_content": "x", "metadata": {"start_index": -1}})
    assert row == {"doc_id": "b.md", "content": "x"}
