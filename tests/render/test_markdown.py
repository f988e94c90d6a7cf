"""Reports against strings that would break or abuse them, read back with a real Markdown parser."""

import re

import pytest
from hostile import HOSTILE, PARSER, ZERO_WIDTH_SPACE, linked_by_github, plain, rows, shape
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import TemplateNotFound, UndefinedError

from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.render.engine import render
from membench.render.markdown import escaped, fenced, linked
from membench.render.measurement import measurement_markdown
from membench.render.text import code_line, one_line
from membench.reports.measurement import GoldLost, Measurement, Omitted
from membench.ruler.observer import Silent
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval


@pytest.mark.parametrize("text", HOSTILE)
def test_an_escaped_string_is_one_plain_paragraph(text):
    tokens = PARSER.parse(escaped(text))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert plain(tokens[1]) == one_line(text)
    assert linked_by_github("".join(child.content for child in tokens[1].children)) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_an_escaped_string_is_one_plain_table_cell(text):
    tokens = PARSER.parse(f"| a | b |\n|---|---|\n| {escaped(text)} | end |\n")
    cells = [tokens[place + 1] for place, token in enumerate(tokens) if token.type == "td_open"]
    assert [plain(cell) for cell in cells] == [one_line(text), "end"]


@given(st.text(st.characters(exclude_characters="\x00" + ZERO_WIDTH_SPACE, exclude_categories=["Cs"]), max_size=60))
def test_any_string_is_one_plain_table_cell(text):
    tokens = PARSER.parse(f"| a | b |\n|---|---|\n| {escaped(text)} | end |\n")
    cells = [tokens[place + 1] for place, token in enumerate(tokens) if token.type == "td_open"]
    assert [plain(cell).strip() for cell in cells] == [one_line(text), "end"]


@pytest.mark.parametrize(
    "text", ["all-minilm-l6-v2", "decay_rate", "sample.now.mmr-off", "2024-01-31", "0.03", "C3: D1", "a.b"]
)
def test_a_plain_string_is_left_as_it_is(text):
    assert escaped(text) == text


ADDRESSES = [
    "https://github.com/owner/repo/compare/main...membench/baselines?expand=1",
    "https://example.org",
    "http://localhost:8080/a/",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_in_our_own_words_is_a_link(address):
    for before, after in (("open it: ", ""), ("see ", ", then @octocat"), ("", ".")):
        (_, inline, _) = PARSER.parse(linked(f"{before}{address}{after}"))
        assert [child.attrs["href"] for child in inline.children if child.type == "link_open"] == [address]
        assert "@octocat" not in inline.content


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_else_in_our_own_words_is_more_than_text(text):
    (_, inline, _) = PARSER.parse(linked(text))
    for child in inline.children:
        assert child.type in ("text", "text_special", "link_open", "link_close")
        if child.type == "link_open":
            assert re.fullmatch(r"https?://[\w./-]+", child.attrs["href"])


@pytest.mark.parametrize("text", [*HOSTILE, "```", "` ```` `", "~~~"])
def test_a_command_is_one_block_of_code(text):
    (block,) = PARSER.parse(fenced(text))
    assert (block.type, block.info, block.content) == ("fence", "sh", f"{code_line(text)}\n")
    assert len(block.content.splitlines()) == 1


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


def test_a_report_is_made_of_tables_whose_rows_are_as_wide_as_their_heads(measurement):
    markdown = measurement_markdown(measurement)
    blocks = re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE)
    assert len(blocks) == 5
    for block in blocks:
        assert len({len(row) for row in rows(block)}) == 1, block
    assert shape(markdown).count("table_open") == 5
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
    assert whole.replace(ZERO_WIDTH_SPACE, "").count(one_line(text)) >= 16


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
