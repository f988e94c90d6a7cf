"""How much of the texts the model saw, beside the figures of a report and on a terminal."""

import re

import pytest
from hostile import rows, tables
from remeasured import measured

from membench.compare.compare import compare
from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.embedding.choice import EmbedderChoice
from membench.render.measurement import measurement_markdown
from membench.render.seen import input_rows, seen, window
from membench.render.text import EMPTY
from membench.reports.measurement import Lengths, Measurement
from membench.ruler.observer import Silent
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval
from membench.terminal.comparison import print_comparison
from membench.terminal.tables import print_outcomes

SHAPE = re.compile(
    r"the model saw up to 16 tokens of each (text|query), of the 512 that it takes: (\d+) of (\d+) (?:texts|queries) "
    r"were cut, [\d.]+% of all tokens were seen \(lengths: median (\d+), 90% up to (\d+), 99% up to (\d+), "
    r"longest (\d+)\)"
)


def narrowed(measurement: Measurement, **changes) -> Measurement:
    return measurement.model_copy(update={"embedder": measurement.embedder.model_copy(update=changes)})


def test_what_was_cut_is_told_of_texts_and_of_queries(narrow):
    told = seen(narrow)
    for sentence, what, lengths in zip(
        told, ("text", "query"), (narrow.inputs.documents, narrow.inputs.queries), strict=True
    ):
        found = SHAPE.fullmatch(sentence)
        assert found, sentence
        assert found[1] == what
        assert [int(one) for one in found.groups()[1:]] == [
            lengths.texts_cut,
            lengths.texts,
            lengths.p50,
            lengths.p90,
            lengths.p99,
            lengths.longest,
        ]


def test_where_nothing_was_cut_a_few_words_do(wide):
    longest = wide.inputs.documents.longest
    assert seen(wide) == [f"nothing was cut: the longest text has {longest} of 512 tokens, all that the model takes"]
    assert seen(narrowed(wide, input_window=256)) == [
        f"nothing was cut: the longest text has {longest} of 256 tokens; the model takes 512"
    ]
    assert seen(narrowed(wide, model_window=None)) == [f"nothing was cut: the longest text has {longest} of 512 tokens"]


def test_a_window_that_is_the_models_own_is_said_to_be(narrow):
    own = narrowed(narrow, model_window=16)
    assert all("16 tokens of each" in told and ", all that it takes: " in told for told in seen(own))
    assert window(own.embedder) == "16 tokens, all that the model takes"
    assert window(narrow.embedder) == "16 of the 512 tokens that the model takes"


def test_large_counts_are_grouped_and_one_text_is_one(narrow):
    many = Lengths(
        texts=24112,
        tokens=2_000_000,
        texts_cut=1204,
        tokens_cut=254_000,
        share_seen=0.873,
        p50=91,
        p90=402,
        p99=1240,
        longest=2801,
    )

    def of(lengths: Lengths) -> list[str]:
        return seen(narrow.model_copy(update={"inputs": narrow.inputs.model_copy(update={"documents": lengths})}))

    assert of(many)[0].endswith(
        "1,204 of 24,112 texts were cut, 87.3% of all tokens were seen "
        "(lengths: median 91, 90% up to 402, 99% up to 1,240, longest 2,801)"
    )
    assert ": 1 of 24,112 texts was cut, " in of(many.model_copy(update={"texts_cut": 1}))[0]


def test_the_report_has_the_sentences_among_its_figures_and_both_kinds_in_a_table(narrow, wide):
    markdown = measurement_markdown(narrow)
    figures = markdown.split("\n## ")[1]
    assert figures.startswith("Figures\n")
    for told in seen(narrow):
        assert f"\n- {told}.\n" in figures
    table = [[cell.strip() for cell in row] for row in tables(figures)[1]]
    assert table[0] == ["", "texts", "cut", "tokens", "of them seen", "median", "90% up to", "99% up to", "longest"]
    assert [row[0] for row in table[2:]] == [name for name, _ in input_rows(narrow)] == ["written texts", "queries"]
    for row, lengths in zip(table[2:], (narrow.inputs.documents, narrow.inputs.queries), strict=True):
        counts = [lengths.texts, lengths.texts_cut, lengths.tokens, lengths.p50, lengths.p90, lengths.p99]
        assert [*row[1:4], *row[5:8]] == [f"{count:,}" for count in counts]
    assert ["input window", "16 of the 512 tokens that the model takes"] in [
        [cell.strip() for cell in row] for row in rows(markdown)
    ]
    assert "| 100% |" in measurement_markdown(wide)


def test_without_an_embedder_nothing_is_told(clean):
    assert (seen(clean), input_rows(clean)) == ([], [])
    assert "What was embedded" not in measurement_markdown(clean)


def test_a_memory_that_stores_nothing_has_embedded_nothing_and_no_dash_is_a_zero(tmp_path):
    nothing = measured(tmp_path, memory="episodic", toy=True, memory_options={"min_chars": "5000", "max_chars": "none"})
    assert seen(nothing) == ["no text was embedded"]
    dashes = f" {EMPTY} |" * 5
    assert f"\n| written texts | 0 | 0 | 0 |{dashes}\n" in measurement_markdown(nothing)


@pytest.mark.parametrize("cut", [True, False])
def test_the_terminal_says_it_under_the_table(cut, default_model, folder, wide, narrow, capsys):
    del default_model, wide, narrow  # what they have embedded is in the folder
    choice = EmbedderChoice(input_window=16) if cut else EmbedderChoice()
    request = Request(corpus="sample", reading=Reading(part=Slice(1, 20)), embedder=choice)
    outcomes = run_retrieval(
        request, root=folder / "cache", report_dir=folder, command=[], observer_for=lambda *_: Silent()
    )
    print_outcomes(outcomes)
    lines = capsys.readouterr().out.splitlines()
    (last,) = (place for place, line in enumerate(lines) if line.startswith("turn queries"))
    told = seen(outcomes[0].measurement)
    assert len(told) == 1 + cut
    assert lines[last + 1 : last + 1 + len(told)] == told


def test_a_comparison_on_a_terminal_says_it_of_both_sides_and_names_the_control(narrow, wide, capsys):
    print_comparison(compare(narrow, narrow))
    assert f"\nbaseline and candidate: {seen(narrow)[0]}\n" in capsys.readouterr().out
    comparison = compare(narrow, wide)
    print_comparison(comparison)
    printed = capsys.readouterr().out
    assert f"\n{comparison.notices[0]}\n" in printed
    assert printed.endswith(f"\nthe candidate with 16 tokens of each text:\n  {comparison.controls[0].command}\n")
    evil = comparison.controls[0].model_copy(update={"command": "a  \x1b[2J\u2028b\n", "missing": ["x\x1b", "y"]})
    print_comparison(comparison.model_copy(update={"controls": [evil]}))
    printed = capsys.readouterr().out
    assert "text, with x\ufffd and y filled in:\n  a  \ufffd[2J\ufffdb\ufffd\n" in printed
