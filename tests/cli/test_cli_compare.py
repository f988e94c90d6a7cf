"""`membench compare` in processes of its own: what it prints, where, and how it exits."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from remeasured import measured, with_ranks

from membench.compare.compare import compare
from membench.compare.questions import questions_at_hand
from membench.render.comparison import comparison_markdown
from membench.reports.canonical import canonical_json
from membench.reports.comparison import Comparison, Comparisons
from membench.reports.measurement import Measurement
from membench.terminal.comparison import print_comparison


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("compared")
    baseline = measured(folder)
    recalled = [q for q in baseline.queries if all(rank is not None and rank <= 5 for rank in q.session_ranks)]
    query = recalled[0]
    # What comes back is as long as ever: one query loses its gold.
    worse = with_ranks(baseline, {query.id: {"session_ranks": [None] * len(query.session_ranks)}})
    less = with_ranks(baseline, {query.id: {"session_ranks": [None] * len(query.session_ranks), "session_observed": 3}})
    evil = baseline.model_copy(
        update={
            "status": "unclean",
            "reasons": ["\x1b[2J one", "two"],
            "memory": baseline.memory.model_copy(update={"name": "evil\u202e\x07"}),
        }
    )
    contents = {
        "baseline": canonical_json(baseline),
        "worse": canonical_json(worse),
        "less": canonical_json(less),
        "evil": canonical_json(evil),
        "newer": canonical_json(baseline).replace(b"membench.measurement/1", b"membench.measurement/2"),
        "cut": canonical_json(baseline)[:1000],
        "tampered": re.sub(rb'"value": [0-9.]+', b'"value": 0.9', canonical_json(baseline), count=1),
    }
    for name, data in contents.items():
        (folder / f"{name}.json").write_bytes(data)
    return {name: folder / f"{name}.json" for name in [*contents, "absent"]} | {"folder": folder}


MODELS = {"comparison": Comparison, "comparisons": Comparisons}
SCHEMAS = Path(__file__).parents[2] / "schemas"
ASKED = {
    "worse": ("baseline", "worse"),
    "worse at 10": ("baseline", "worse", "--k", "10"),
    "worse as JSON": ("baseline", "worse", "--json"),
    "worse as Markdown": ("baseline", "worse", "--markdown"),
    "same": ("baseline", "baseline"),
    "less": ("baseline", "less"),
    "evil": ("baseline", "evil"),
    "evil as JSON": ("baseline", "evil", "--json"),
    "newer": ("newer", "baseline"),
    "newer as Markdown": ("baseline", "newer", "--markdown"),
    "another cut-off": ("baseline", "worse", "--k", "7"),
    "no cut-off": ("baseline", "worse", "--k", "0"),
    "both forms": ("baseline", "worse", "--json", "--markdown"),
    "one file": ("baseline",),
    "cut": ("baseline", "cut"),
    "tampered": ("tampered", "baseline"),
    "absent": ("absent", "baseline"),
    "folder": ("baseline", "folder"),
}


@pytest.fixture(scope="module")
def finished(new_command, files):
    commands = [("compare", *(files.get(part, part) for part in asked)) for asked in ASKED.values()]
    commands += [("schema", name) for name in MODELS]
    return dict(zip([*ASKED, *MODELS], new_command().all(commands), strict=True))


def read(path: Path) -> Measurement:
    return Measurement.model_validate_json(path.read_bytes())


@pytest.fixture(scope="module")
def expected(files, tmp_path_factory) -> Comparison:
    baseline, worse = read(files["baseline"]), read(files["worse"])
    questions = questions_at_hand(worse, tmp_path_factory.mktemp("cache"))
    assert len(questions) >= len(worse.queries)
    return compare(baseline, worse, questions=questions)


def test_a_comparison_on_a_terminal_leads_with_the_verdict_and_its_rule(finished, expected):
    one = finished["worse"]
    assert (one.returncode, one.stderr) == (0, "")
    lines = one.stdout.splitlines()
    assert lines[0] == f"regressed: {expected.rule}"
    delta = expected.metrics.session.recall_all["5"]
    assert lines[1] == (
        f"session recall_all@5: {delta.baseline:.4f} -> {delta.candidate:.4f} ({delta.delta:.4f}, -1 query) "
        f"over {delta.queries} queries; 0 gained, 1 lost"
    )
    assert max(map(len, lines[3:20])) <= 120


def test_the_table_holds_every_figure_of_both_levels(finished, expected):
    lines = [line.split() for line in finished["worse"].stdout.splitlines()]
    session, turn = expected.metrics.session, expected.metrics.turn
    cut_offs = sorted(map(int, turn.recall_all))
    start = lines.index([*(f"@{k}" for k in cut_offs), "MRR"])
    table = lines[start + 1 :]

    def cells(row, attribute):
        return [f"{getattr(row[str(k)], attribute):.4f}" if str(k) in row else "-" for k in cut_offs]

    mrr = session.mrr
    assert table[0] == [
        "session",
        "recall_all",
        "baseline",
        *cells(session.recall_all, "baseline"),
        f"{mrr.baseline:.4f}",
    ]
    assert table[1] == ["candidate", *cells(session.recall_all, "candidate"), f"{mrr.candidate:.4f}"]
    assert table[2][0] == "change"
    assert table[3][:2] == ["in", "queries"]
    assert ["turn", "ndcg", "both", *cells(turn.ndcg, "candidate")] in table
    assert ["session", "queries"] in [line[:2] for line in table]


def test_a_query_that_is_lost_is_told_with_its_ranks_and_its_question(finished, expected):
    (lost,) = expected.flips[0].lost
    moves = ", ".join(f"{gold} {rank} -> -" for gold, rank in zip(lost.gold, lost.baseline_ranks, strict=True))
    assert lost.question
    told = f"1 lost at session level, recall_all@5:\n  {lost.id}: {moves}\n    {lost.question}\n"
    assert told in finished["worse"].stdout


def test_a_question_does_nothing_to_a_terminal(expected, capsys):
    lost = expected.flips[0].lost[0]
    text = "\x1b[2J\nWhere\u202e? [bold]\ud800"
    evil = lost.model_copy(update={"id": text, "question": text, "gold": [text] * len(lost.gold)})
    flips = expected.flips[0].model_copy(update={"lost": [evil]})
    print_comparison(expected.model_copy(update={"flips": [flips], "notices": [text]}))
    printed = capsys.readouterr().out
    assert printed.count("\ufffd[2J Where\ufffd? [bold]\ufffd") == 3 + len(lost.gold)
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\ud800]", printed)


def test_a_terminal_that_cannot_show_a_script_gets_an_escape(expected, membench):
    lost = expected.flips[0].lost[0].model_copy(update={"question": "Où?"})
    flips = expected.flips[0].model_copy(update={"lost": [lost]})
    code = (
        "import sys; from membench.reports.comparison import Comparison; "
        "from membench.terminal.comparison import print_comparison; "
        "print_comparison(Comparison.model_validate_json(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, canonical_json(expected.model_copy(update={"flips": [flips]})).decode()],
        env={**membench.environment(), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"O\\xf9?" in done.stdout


def test_the_same_measurement_is_unchanged_in_so_many_words(finished):
    one = finished["same"]
    assert (one.returncode, one.stderr) == (0, "")
    assert one.stdout.startswith("unchanged: recall_all@5 is exactly equal at session and turn level\n")
    assert "every rank of every query is equal" in one.stdout
    assert " lost at " not in one.stdout
    assert "change" not in one.stdout.split("equal", 2)[2]


def test_what_is_set_aside_is_told_with_its_pairs(finished, files):
    one = finished["less"]
    assert one.returncode == 0
    both = len(read(files["baseline"]).queries) - 1
    assert "session @5 set aside: a query counts at 5 only if 5 distinct sessions came back" in one.stdout
    assert f"  recall_all@5 over the {both} queries that both observed: " in one.stdout


def test_as_json_it_is_the_canonical_comparison(finished, expected):
    one = finished["worse as JSON"]
    assert (one.returncode, one.stderr) == (0, "")
    assert one.stdout.encode() == canonical_json(expected)
    assert Comparison.model_validate_json(one.stdout) == expected


def test_as_markdown_it_is_the_report(finished, expected):
    one = finished["worse as Markdown"]
    assert (one.returncode, one.stderr) == (0, "")
    assert one.stdout == comparison_markdown(expected)


def test_the_verdict_is_read_where_it_is_asked(finished):
    assert re.match(r"regressed: recall_all@10 |unchanged: recall_all@10 ", finished["worse at 10"].stdout)


def test_what_cannot_be_compared_exits_with_3_and_every_reason(finished):
    for name in ("evil", "evil as JSON"):
        one = finished[name]
        assert one.returncode == 3
        assert len(one.stderr.splitlines()) == 3
        assert "Not comparable: status: candidate unclean: the candidate is not clean: " in one.stderr
        assert "Not comparable: memory identity: baseline bm25 " in one.stderr
        assert "evil\ufffd\ufffd" in one.stderr
        assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", one.stderr)
    assert finished["evil"].stdout == "not comparable: 3 reasons against it\n"
    document = json.loads(finished["evil as JSON"].stdout)
    assert (document["verdict"], len(document["refusals"]), document["metrics"]) == ("not comparable", 3, None)


def test_another_schema_exits_with_3_and_what_to_do(finished):
    for name in ("newer", "newer as Markdown"):
        assert finished[name].returncode == 3
        assert "Compare with the membench that wrote it, or a newer one." in finished[name].stderr
    assert finished["newer as Markdown"].stdout.startswith("# sample.")


@pytest.mark.parametrize("name", ["another cut-off", "no cut-off", "both forms", "one file"])
def test_wrong_usage_exits_with_2(name, finished):
    one = finished[name]
    assert (one.returncode, one.stdout) == (2, "")
    expected = {"another cut-off": "--k 7", "no cut-off": "--k", "both forms": "--markdown", "one file": "CANDIDATE"}
    assert expected[name] in one.stderr


@pytest.mark.parametrize("name", ["cut", "tampered", "absent", "folder"])
def test_a_file_that_cannot_be_believed_or_read_exits_with_1(name, finished, files):
    one = finished[name]
    assert (one.returncode, one.stdout) == (1, "")
    assert str(files[name]) in one.stderr
    assert {"cut": "is not JSON", "tampered": "contradicts itself"}.get(name, "Error:") in one.stderr


@pytest.mark.parametrize("name", MODELS)
def test_the_schema_is_published(name, finished):
    schema = json.loads(finished[name].stdout)
    assert schema["properties"]["schema"]["const"] == f"membench.{name}/1"
    assert set(schema["properties"]) == {field.alias or key for key, field in MODELS[name].model_fields.items()}
    assert (SCHEMAS / f"{name}.json").read_text() == finished[name].stdout
