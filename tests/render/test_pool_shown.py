"""A shared pool, as a reader of a report and of a terminal is told of it."""

import pytest
from hostile import tables
from remeasured import measured

from membench.compare.compare import compare, run_comparison
from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.render.measurement import measurement_markdown
from membench.render.pool import DISTRACTION, pool_lines, pool_rows
from membench.render.remedy import remedy
from membench.render.run import pull_request_body, summary_markdown
from membench.reports.measurement import SharedPool
from membench.ruler.observer import Silent
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval
from membench.terminal.tables import print_outcomes

WHOLE = Reading()
PART = Reading(part=Slice(instances=3))


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return measured(tmp_path_factory.mktemp("shared"), pool="shared", reading=WHOLE)


def episodic(folder, **asked):
    return measured(folder, memory="episodic", toy=True, pool="shared", reading=PART, **asked)


def test_every_count_is_told_once_under_a_name_of_its_own(shared):
    counted = shared.accounting.shared
    told = pool_rows(counted)
    assert sorted(count for _, count in told) == sorted(counted.model_dump().values())
    assert len({name for name, _ in told}) == len(SharedPool.model_fields)


def test_a_report_says_what_is_searched_and_what_that_is_and_counts_it(shared):
    markdown = measurement_markdown(shared)
    counted = shared.accounting.shared
    assert (
        f"Each query searches one pool of all {counted.session_texts} distinct sessions of the corpus and asks for 20 "
        f"hits. This is {DISTRACTION}.\n"
    ) in markdown
    assert "its own instance" not in markdown
    section = markdown.split("\n## What was written and what came back\n")[1]
    table = [[cell.strip() for cell in row] for row in tables(section)[0]]
    assert table[2:] == [[name, f"{count:,}"] for name, count in pool_rows(counted)]
    assert "| widest span of the pool, days |" in markdown


def test_of_a_part_of_the_corpus_the_pool_is_no_more_than_that(tmp_path):
    part = measured(tmp_path, pool="shared", reading=PART)
    sessions = part.accounting.shared.session_texts
    told = f"one pool of all {sessions} distinct sessions of the measured part of the corpus"
    assert f"Each query searches {told} and" in measurement_markdown(part)
    assert pool_lines(part)[0].startswith(told)


def test_an_own_pool_is_not_spoken_of(clean):
    markdown = measurement_markdown(clean)
    assert "Each query searches its own instance and asks for 20 hits.\n" in markdown
    assert "pool" not in markdown.replace("fingerprint", "")
    assert pool_lines(clean) == []


def test_the_summary_and_the_pull_request_say_it_beside_the_figures(shared):
    run = run_comparison([compare(None, shared), compare(shared, shared)])
    for render in (summary_markdown, pull_request_body):
        markdown = render(run, [shared, shared], [], "")
        for told in pool_lines(shared):
            assert markdown.count(f"\n- {told}.\n") == 2
        assert "Each query searches one pool of all" in markdown


def test_a_terminal_is_told_in_two_lines(shared, tmp_path, capsys):
    request = Request(corpus="sample", memory="bm25", pool="shared")
    outcomes = run_retrieval(request, root=tmp_path, report_dir=tmp_path, command=[], observer_for=lambda *_: Silent())
    print_outcomes(outcomes)
    first, second = pool_lines(shared)
    assert f"\n{first}\n{second}\n" in capsys.readouterr().out
    assert DISTRACTION in first
    assert "; ".join(f"{name} {count:,}" for name, count in pool_rows(shared.accounting.shared)) in second


# What can be done where the memory did not keep it all.

ASKED = {
    "long": ({"max_chars": "150"}, "--memory-option max_chars=none"),
    "short": ({"min_chars": "50"}, "--memory-option min_chars=0"),
    "many": ({"episodic_max": "50", "dedup": "off"}, "--memory-option episodic_max=none"),
    "long, and then many": (
        {"max_chars": "60", "episodic_max": "300"},
        "--memory-option max_chars=none --memory-option episodic_max=none",
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_each_option_is_named_where_it_helps_and_helps(name, tmp_path):
    options, expected = ASKED[name]
    measurement = episodic(tmp_path, memory_options=options)
    assert len(measurement.reasons) > 1
    assert remedy(measurement) == expected
    markdown = measurement_markdown(measurement)
    assert f">\n> To have more stored, measure again with `{expected}`\n" in markdown
    followed = dict(one.split("=") for one in expected.split()[1::2])
    again = episodic(tmp_path, memory_options=options | followed)
    assert again.accounting.shared.rows > measurement.accounting.shared.rows
    assert remedy(again) is None


def test_longer_near_duplicates_are_not_the_limits_doing(tmp_path):
    measurement = episodic(tmp_path, memory_options={"dedup_threshold": "0.3", "max_chars": "none", "min_chars": "0"})
    assert measurement.accounting.displaced
    assert measurement.status == "unclean"
    assert remedy(measurement) == "--memory-option dedup=off"


def test_no_option_is_named_where_nothing_is_amiss_or_the_memory_is_another(shared, clean, tmp_path):
    unclean = {"status": "unclean", "reasons": ["why"]}
    assert remedy(shared) is remedy(clean) is remedy(shared.model_copy(update=unclean)) is None
    # In pools of their own a refusal stands beside the figures, and the toy embedder is what is amiss.
    own = measured(tmp_path, memory="episodic", toy=True, memory_options={"max_chars": "150"})
    assert own.accounting.refused
    assert remedy(own) is None


def test_a_memory_that_stored_nothing_is_told_why(tmp_path, capsys):
    request = Request(corpus="sample", toy=True, reading=PART, granularity="session", memory_options={"max_chars": "9"})
    outcomes = run_retrieval(request, root=tmp_path, report_dir=tmp_path, command=[], observer_for=lambda *_: Silent())
    print_outcomes(outcomes)
    assert "\nTo have more stored, measure again with --memory-option max_chars=none\n" in capsys.readouterr().err
