"""Reports against strings that would break or abuse them, read back with a real Markdown parser."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import TemplateNotFound, UndefinedError
from markdown_it import MarkdownIt

from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.render.markdown import escaped, grouped, render
from membench.render.measurement import measurement_markdown
from membench.reports.measurement import GoldLost, Measurement, Omitted
from membench.ruler.observer import Silent
from membench.runs import Request, run_retrieval

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
ZERO_WIDTH_SPACE = "\u200b"

HOSTILE = [
    "a | b || c",
    "back\\slash \\| and \\\\| pipes",
    "<script>alert(1)</script><!-- ",
    "<img src=x onerror=alert(1)> &amp; &lt;b&gt;",
    "@octocat and @github/team, mail@example.org",
    "#123, fixes #7, GH-12, gh-3, owner/repo#4",
    "two\nlines\r\n\r\n| a | row |\n\n# heading",
    "```code``` and `tick` and ~~struck~~",
    "**bold** _em_ *em* __strong__ [link](http://example.org) ![i](u)",
    "https://example.org www.example.org HTTP://EXAMPLE.ORG",
    "- item",
    "1. item",
    "> quote",
    "# heading",
    "===",
    "---",
    "+ plus",
    "$x^2$ {{ braces }} {% tag %}",
    "a line\u2028separator\x0b and\x0c feeds\x85",
    "very long " * 500,
    "snake_case_name and 3 * 4 = 12",
]


def normal(text: str) -> str:
    return " ".join(text.split())


def plain(inline) -> str:
    """What a reader sees of an inline token that must hold no markup."""
    kinds = {child.type for child in inline.children}
    assert kinds <= {"text", "text_special"}, (kinds, inline.content)
    return "".join(child.content for child in inline.children).replace(ZERO_WIDTH_SPACE, "")


def linked_by_github(text: str) -> list[str]:
    """What GitHub makes of the text after it has read the Markdown: mentions, references, addresses."""
    patterns = (r"(?<![\w`])@[\w-]+", r"\w@\w", r"#\d+", r"\b[Gg][Hh]-\d+", r"\w+://\w", r"\bwww\.\w")
    return [found for pattern in patterns for found in re.findall(pattern, text, re.IGNORECASE)]


@pytest.mark.parametrize("text", HOSTILE)
def test_an_escaped_string_is_one_plain_paragraph(text):
    tokens = PARSER.parse(escaped(text))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert plain(tokens[1]) == normal(text)
    assert linked_by_github("".join(child.content for child in tokens[1].children)) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_an_escaped_string_is_one_plain_table_cell(text):
    tokens = PARSER.parse(f"| a | b |\n|---|---|\n| {escaped(text)} | end |\n")
    cells = [tokens[place + 1] for place, token in enumerate(tokens) if token.type == "td_open"]
    assert [plain(cell) for cell in cells] == [normal(text), "end"]


@given(st.text(st.characters(exclude_characters="\x00" + ZERO_WIDTH_SPACE, exclude_categories=["Cs"]), max_size=60))
def test_any_string_is_one_plain_table_cell(text):
    tokens = PARSER.parse(f"| a | b |\n|---|---|\n| {escaped(text)} | end |\n")
    cells = [tokens[place + 1] for place, token in enumerate(tokens) if token.type == "td_open"]
    assert [plain(cell).strip() for cell in cells] == [normal(text).strip(), "end"]


@pytest.mark.parametrize(
    "text", ["all-minilm-l6-v2", "decay_rate", "sample.now.mmr-off", "2024-01-31", "0.03", "C3: D1", "a.b"]
)
def test_a_plain_string_is_left_as_it_is(text):
    assert escaped(text) == text


def test_numbers_are_grouped():
    assert [grouped(number) for number in (0, 999, 1531, 2805274)] == ["0", "999", "1,531", "2,805,274"]


def test_a_missing_variable_is_an_error():
    with pytest.raises(UndefinedError):
        render("measurement.md.j2", {})


def test_a_missing_field_is_an_error(measurement):
    with pytest.raises(UndefinedError):
        render("measurement.md.j2", {"m": measurement, "levels": [], "metric_names": []})


def test_a_missing_template_is_an_error():
    with pytest.raises(TemplateNotFound):
        render("nothing.md.j2", {})


# A whole report.


@pytest.fixture(scope="module")
def measurement(tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    folder = tmp_path_factory.mktemp("render")
    request = Request(corpus="sample", reading=Reading(part=Slice(1, 20)), toy=True)
    (outcome,) = run_retrieval(
        request, root=folder, report_dir=folder / "reports", command=[], observer_for=lambda *_: Silent()
    )
    return outcome.measurement


def hostile_measurement(measurement: Measurement, text: str) -> Measurement:
    """``text`` wherever a corpus, a memory or a model can put one."""
    name = {"name": text}
    assert measurement.embedder is not None
    return measurement.model_copy(
        update={
            "reasons": [text],
            "corpus": measurement.corpus.model_copy(update={"key": text}),
            "arm": measurement.arm.model_copy(update=name),
            "memory": measurement.memory.model_copy(
                update={**name, "version": text, "backend": text, "options": {"option": text, text: "value"}}
            ),
            "embedder": measurement.embedder.model_copy(
                update={"key": text, "pooling": text, "build": text, "instruction_set": text}
            ),
            "accounting": measurement.accounting.model_copy(
                update={
                    "refused": {text: 3},
                    "duplicates": {text: 4},
                    "gold_lost": [GoldLost(instance=text, session=text, turn=text, reason=text)],
                }
            ),
            "omitted": [Omitted(level="turn", cut_off=20, reason=text)],
            "by_category": [one.model_copy(update={**name, "number": text + "!"}) for one in measurement.by_category],
        }
    )


def shape(markdown: str) -> list[str]:
    """The blocks of a report, in order: headings, rows, cells, items, none of which a string can add or take away."""
    return [token.type for token in PARSER.parse(markdown) if token.type != "inline"]


def rows(markdown: str) -> list[list[str]]:
    """The rows as they are written, without the padding that a parser gives to those that are too short."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [line.strip().split("|")[1:-1] for line in lines]


def test_a_report_is_made_of_tables_whose_rows_are_as_wide_as_their_heads(measurement):
    markdown = measurement_markdown(measurement)
    blocks = re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE)
    assert len(blocks) == 4
    for block in blocks:
        assert len({len(row) for row in rows(block)}) == 1, block
    assert shape(markdown).count("table_open") == 4
    assert "html_block" not in shape(markdown)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_string_changes_the_shape_of_a_report_or_leaves_a_mention(text, measurement):
    usual = measurement_markdown(hostile_measurement(measurement, "plain"))
    hostile = measurement_markdown(hostile_measurement(measurement, text))
    assert shape(hostile) == shape(usual)
    inlines = [token for token in PARSER.parse(hostile) if token.type == "inline"]
    ours = {child.type for token in PARSER.parse(usual) if token.type == "inline" for child in token.children}
    for token in inlines:
        assert {child.type for child in token.children} <= ours | {"text_special"}, token.content
        seen = "".join(child.content for child in token.children if child.type != "code_inline")
        assert linked_by_github(seen) == [], token.content
    whole = "\n".join("".join(child.content for child in token.children) for token in inlines)
    # 16 places: nothing is lost either. The arm stands with the corpus in one heading, and so on.
    assert whole.replace(ZERO_WIDTH_SPACE, "").count(normal(text)) >= 16


def test_a_report_says_what_was_measured(measurement):
    markdown = measurement_markdown(measurement)
    assert markdown.startswith("# sample, now.instances-1.queries-20.toy\n")
    assert f"`{measurement.corpus.fingerprint}`" in markdown
    headline = measurement.metrics.session.recall_all["5"]
    assert re.search(
        rf"^\| \*\*session recall_all\*\* \|( [\d.]+ \|){{2}} {headline.value:.4f} \|", markdown, re.MULTILINE
    )
    for name, value in (("decay_rate", "0.03"), ("mmr", "on"), ("score_decimals", "4")):
        assert f"{name}={value}" in markdown
    assert measurement_markdown(measurement) == markdown
