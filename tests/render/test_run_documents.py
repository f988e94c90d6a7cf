"""The documents of a whole run: what they say, whoever wrote the strings in them, and how long they get."""

import json
import re

import pytest
from hostile import HOSTILE, PARSER, ZERO_WIDTH_SPACE, linked_by_github, shape, tables
from remeasured import with_ranks

from membench.compare.compare import compare, run_comparison
from membench.render.comparison import comparison_markdown
from membench.render.markdown import at
from membench.render.run import LARGEST_SUMMARY, LONGEST_BODY, pull_request_body, summary_markdown
from membench.render.seen import seen
from membench.reports.comparison import Comparison, Comparisons, Flip, Refusal
from membench.reports.measurement import Measurement

EMPTY = "\u2013"
WHOLE = "Every file is in [this run](https://example.org/run)."
Run = tuple[Comparisons, list[Measurement]]


def flipped(measurement: Measurement, found: bool, count: int) -> Measurement:
    """The first ``count`` queries that are not as ``found`` made so."""
    recalled = {q.id: all(rank is not None and rank <= 5 for rank in q.session_ranks) for q in measurement.queries}
    chosen = [q for q in measurement.queries if recalled[q.id] != found][:count]
    assert len(chosen) == count
    ranks = {q.id: list(range(1, len(q.session_ranks) + 1)) if found else [None] * len(q.session_ranks) for q in chosen}
    return with_ranks(measurement, {name: {"session_ranks": one} for name, one in ranks.items()})


def fewer(measurement: Measurement) -> Measurement:
    """A query of it brings back but four sessions."""
    query = measurement.queries[0]
    ranks = [rank if rank is not None and rank <= 4 else None for rank in query.session_ranks]
    return with_ranks(measurement, {query.id: {"session_ranks": ranks, "session_observed": 4}})


@pytest.fixture(scope="module")
def arms(clean, wide, narrow) -> dict[str, tuple[Comparison, Measurement]]:
    questions = {query.id: f"What of {query.id}?" for query in clean.queries}
    worse = flipped(clean, False, 3)
    limited = clean.model_copy(update={"arm": clean.arm.model_copy(update={"limit": 30})})
    return {
        "worse": (compare(clean, worse, questions=questions), worse),
        "better": (compare(worse, clean, questions=questions), clean),
        "same": (compare(clean, clean), clean),
        "first": (compare(None, clean), clean),
        "refused": (compare(clean, limited), limited),
        "aside": (compare(clean, fewer(clean)), fewer(clean)),
        "windows": (compare(narrow, wide), wide),
        "cut": (compare(narrow, flipped(narrow, True, 1)), narrow),
    }


def run_of(*arms: tuple[Comparison, Measurement]) -> Run:
    return run_comparison([arm for arm, _ in arms]), [measurement for _, measurement in arms]


def documents(run: Run, sentences: tuple[str, ...] = ("A sentence.",)) -> list[str]:
    return [
        summary_markdown(*run, sentences, WHOLE),
        pull_request_body(*run, sentences, WHOLE),
        *(comparison_markdown(arm) for arm in run[0].arms),
    ]


def check_tables(markdown: str) -> None:
    """Every block of rows is a table to the parser, of rows as wide as its head, and a folding holds blank lines."""
    found = tables(markdown)
    for table in found:
        assert len({len(row) for row in table}) == 1, table
    assert shape(markdown).count("table_open") == len(found)
    for line, following in zip(markdown.split("\n"), markdown.split("\n")[1:], strict=False):
        assert not (line.startswith("<details>") and following), line
        assert not (line.startswith("|") and following and not following.startswith("|")), following


@pytest.mark.parametrize("name", ["worse", "better", "same", "first", "refused", "aside", "windows", "cut"])
def test_every_document_of_every_kind_is_made_of_whole_tables(name, arms):
    for markdown in documents(run_of(arms[name])):
        check_tables(markdown)
        assert "\n\n\n" not in markdown
        assert markdown.endswith("\n")
        assert markdown.count("<details>") == markdown.count("</details>")
        assert not re.search(r"^ +\S", re.sub(r"```mermaid\n.*?```", "", markdown, flags=re.DOTALL), re.MULTILINE)


def test_what_leads_is_the_verdict_its_rule_and_one_table(arms):
    arm, measurement = arms["worse"]
    body = pull_request_body(*run_of(arms["worse"]), [], WHOLE)
    rule = arm.rule.replace("@5", at(5))
    session = arm.metrics.session.recall_all["5"]
    turn = arm.metrics.turn.recall_all["5"]
    stem = f"sample.{measurement.arm.name}"
    assert body.startswith(
        f"**Regressed**: {rule}.\n\n"
        "| arm | figure | baseline → candidate | change | queries | gained | lost |\n"
        "|---|---|---|---|--:|--:|--:|\n"
        f"| {stem} | session recall_all{at(5)} | {session.baseline:.4f} → **{session.candidate:.4f}** "
        f"| ▼ {session.delta:.4f} (-3 queries) | {session.queries} | 0 | 3 |\n"
        f"| {stem} | turn recall_all{at(5)} | {turn.baseline:.4f} → **{turn.candidate:.4f}** "
        f"| = 0 | {turn.queries} | 0 | 0 |\n\n"
    )
    summary = summary_markdown(*run_of(arms["worse"]), [], WHOLE)
    assert summary.startswith(f"# membench: regressed\n\n**Regressed**: {rule}.\n\n| arm |")
    assert comparison_markdown(arm).startswith(f"# {stem}: regressed\n\n**Regressed**: {rule}.\n\n| arm |")


def test_every_arm_of_a_run_has_its_rows_its_rule_and_its_sections(arms):
    run = run_of(arms["worse"], arms["better"], arms["same"])
    summary = summary_markdown(*run, ["One.", "See https://example.org/x."], WHOLE)
    assert "**Mixed**: 3 arms: 1 regressed, 1 improved, 1 unchanged.\n" in summary
    assert len(tables(summary)[0]) == 2 + 6
    assert summary.count("\n## Figures: ") == 3
    assert summary.count("\n## Queries gained and lost: ") == 2
    assert summary.count("```mermaid") == 1
    assert "every rank of every query is equal" in summary
    assert "\nOne.\n\nSee <https://example.org/x>.\n" in summary
    (heading,) = re.findall(r"<summary>(.* lost at .*)</summary>", comparison_markdown(arms["worse"][0]))
    assert heading.startswith("3 lost at session level and cut-off 5, among the ")


def test_a_query_that_is_lost_is_named_with_its_question_gold_and_ranks(arms):
    arm, _ = arms["worse"]
    flip = arm.flips[0].lost[0]
    category = next(one.name for one in arm.by_category if one.number == flip.category)
    before = ", ".join(map(str, flip.baseline_ranks))
    after = ", ".join(EMPTY for _ in flip.candidate_ranks)
    line = f"| {flip.id} | {category} | What of {flip.id}? | {', '.join(flip.gold)} | {before} → {after} |"
    assert line in comparison_markdown(arm)
    assert line in pull_request_body(*run_of(arms["worse"]), [], WHOLE)


def test_what_merging_and_closing_mean_and_which_files_change(arms):
    _, measurement = arms["worse"]
    stem = f"sample.{measurement.arm.name}.json"
    body = pull_request_body(*run_of(arms["worse"]), [], WHOLE)
    assert f"\n- {stem}: replaced\n" in body
    assert "**Merging** accepts these figures: they become the baseline that later runs are compared with.\n" in body
    assert "**Closing** without merging declines them: membench stays quiet about this same measurement" in body
    first = pull_request_body(*run_of(arms["first"]), [], WHOLE)
    assert f"\n- {stem}: new\n" in first
    assert "Nothing was accepted yet for those that are new." in first
    assert "Nothing was accepted yet" not in body
    assert f"\n- {stem}: as it was\n" in pull_request_body(*run_of(arms["same"]), [], WHOLE)
    unclean = measurement.model_copy(update={"status": "unclean", "reasons": ["why"]})
    assert f"\n- {stem}: not proposed" in pull_request_body(*run_of((arms["worse"][0], unclean)), [], WHOLE)


def test_without_a_baseline_the_figures_stand_alone(arms, clean):
    for markdown in documents(run_of(arms["first"]))[:2]:
        figure = clean.metrics.session.recall_all["5"]
        assert f"| **{figure.value:.4f}** | no baseline yet | {figure.queries} | {EMPTY} | {EMPTY} |" in markdown
        assert "**Not comparable**: there is no baseline of this name yet.\n" in markdown
        assert "| what | baseline |" not in markdown
        assert "→ **" not in markdown
        assert "```mermaid" not in markdown
        assert f"| session ndcg |  | {clean.metrics.session.ndcg['1'].value:.4f} |" in markdown


def test_every_reason_of_a_refusal_stands_in_a_table(arms):
    for markdown in documents(run_of(arms["refused"])):
        assert "\n| what | baseline | candidate | reason |\n" in markdown
        assert "\n| retrieval: limit | 20 | 30 | what a search is asked differs |\n" in markdown


def test_models_that_saw_different_parts_are_told_with_the_command_of_the_control(arms):
    arm, measurement = arms["windows"]
    (control,) = arm.controls
    for markdown in documents(run_of(arms["windows"])):
        assert f"- {arm.notices[0]}.\n" in markdown
        assert (
            f"\nThe candidate of sample.{measurement.arm.name} with 16 tokens of each text:\n\n"
            f"```sh\n{control.command}\n```\n"
        ) in markdown


def test_how_much_the_model_saw_stands_beside_every_arms_figures(arms, narrow, wide):
    (whole,), cut = seen(wide), seen(narrow)
    assert len(cut) == 2
    both = "".join(f"- baseline and candidate: {told}.\n" for told in cut)
    for markdown in documents(run_of(arms["cut"])):
        assert re.search(rf"\n## Figures.*\n\n{re.escape(both)}\n<details>", markdown)
    for markdown in documents(run_of(arms["windows"]))[:2]:
        assert re.search(rf"\n## Figures.*\n\n- {re.escape(whole)}\.\n\n<details>", markdown)
    for markdown in documents(run_of(arms["worse"])):
        assert "tokens" not in markdown


def test_two_sides_that_saw_unlike_parts_are_told_apart(narrow):
    documents = narrow.inputs.documents.model_copy(update={"texts_cut": 1, "share_seen": 0.99999})
    other = narrow.model_copy(update={"inputs": narrow.inputs.model_copy(update={"documents": documents})})
    markdown = comparison_markdown(compare(narrow, other))
    assert "\n- baseline: the model saw up to 16 tokens" in markdown
    assert f": 1 of {documents.texts} texts was cut, 99.999% of all tokens were seen" in markdown


def test_a_figure_over_different_queries_says_over_which_it_is(arms, clean):
    both = len(clean.queries) - 1
    for markdown in documents(run_of(arms["aside"])):
        assert f"session recall_all{at(5)}, over the {both} queries that both observed |" in markdown
        assert f"| the {both} queries that both observed, of {both + 1} and {both} |" in markdown
        assert f"- session {at(5)} of sample." in markdown


def test_the_chart_is_of_the_comparable_cut_offs_and_has_its_table_beside_it(arms):
    arm, _ = arms["worse"]
    for markdown in documents(run_of(arms["first"], arms["worse"], arms["better"])):
        if arm.baseline.stem not in markdown or "```mermaid" not in markdown:
            continue
        (chart,) = re.findall(r"^```mermaid\n(.*?)^```\n\n(?=\| k \|)", markdown, re.MULTILINE | re.DOTALL)
        lines = [line.strip() for line in chart.splitlines()]
        assert lines[0] == "xychart-beta"
        assert json.loads(lines[1].removeprefix("title ")) == "session recall_all@k: baseline (line), candidate (bars)"
        cut_offs = json.loads(lines[2].removeprefix('x-axis "cut-off k" '))
        assert cut_offs == sorted(arm.metrics.session.recall_all, key=int)
        assert lines[3] == 'y-axis "recall_all" 0 --> 1'
        bars, line = (json.loads(lines[place].split(" ", 1)[1]) for place in (4, 5))
        assert [lines[4].split()[0], lines[5].split()[0]] == ["bar", "line"]
        assert len(bars) == len(line) == len(cut_offs)
        assert all(0 <= value <= 1 for value in (*bars, *line))
    assert comparison_markdown(arm).count("```mermaid") == 1


def test_the_documents_depend_on_what_they_are_given_alone(arms):
    one, again = (documents(run_of(arms["worse"], arms["first"])) for _ in range(2))
    assert one == again


def test_as_many_measurements_as_arms(arms):
    run, measurements = run_of(arms["worse"], arms["same"])
    with pytest.raises(ValueError, match="zip"):
        summary_markdown(run, measurements[:1], [], WHOLE)


# Strings from outside.


def hostile(arm: Comparison, measurement: Measurement, text: str) -> tuple[Comparison, Measurement]:
    """``text`` wherever a corpus, a memory, a file or a model can put one."""

    def evil(flip: Flip) -> Flip:
        return flip.model_copy(
            update={"id": text, "question": text, "gold": [text] * len(flip.gold), "category": f"{text}!"}
        )

    refusal = Refusal.model_construct(what=text, baseline=text, candidate=text, reason=text)
    side = None if arm.baseline is None else arm.baseline.model_copy(update={"stem": text})
    changed = arm.model_copy(
        update={
            "baseline": side,
            "candidate": side,
            "notices": [text],
            "controls": [one.model_copy(update={"command": text, "missing": [text]}) for one in arm.controls],
            "refusals": [refusal for _ in arm.refusals],
            "set_aside": [one.model_copy(update={"reason": text}) for one in arm.set_aside],
            "by_category": [one.model_copy(update={"name": text, "number": text + "!"}) for one in arm.by_category],
            "flips": [
                one.model_copy(update={"gained": list(map(evil, one.gained)), "lost": list(map(evil, one.lost))})
                for one in arm.flips
            ],
        }
    )
    memory = {"name": text, "version": text, "backend": text, "options": {text: text}}
    return changed, measurement.model_copy(
        update={
            "corpus": measurement.corpus.model_copy(update={"key": text}),
            "arm": measurement.arm.model_copy(update={"name": text}),
            "memory": measurement.memory.model_copy(update=memory),
            "accounting": measurement.accounting.model_copy(update={"refused": {text: 1}, "displaced": 1}),
        }
    )


def strange(arms: dict[str, tuple[Comparison, Measurement]], text: str, sentence: str) -> list[str]:
    """Each kind of document, full of ``text``."""
    names = ("worse", "refused", "aside", "windows")
    worse, refused, aside, windows = (hostile(*arms[name], text) for name in names)
    return [
        summary_markdown(*run_of(refused, aside, windows), [sentence], WHOLE),
        pull_request_body(*run_of(windows), [sentence], WHOLE),
        comparison_markdown(windows[0]),
        pull_request_body(*run_of(worse), [sentence], WHOLE),
        comparison_markdown(worse[0]),
        comparison_markdown(refused[0]),
    ]


@pytest.fixture(scope="module")
def usual(arms) -> list[tuple[str, list[str], set[str]]]:
    """Each document of plain strings: its text, its blocks, and what there is within them."""
    found = strange(arms, "plain", "plain")
    return [(one, shape(one), {kind for token in PARSER.parse(one) for kind in inner_kinds(token)}) for one in found]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_string_from_outside_is_more_than_text_in_any_document(text, arms, usual):
    # A long one is for the limits, below.
    text = text[:200]
    sentence = "plain" if "://" in text else text
    evil = strange(arms, text, sentence)
    for (plain, blocks, kinds), markdown in zip(usual, evil, strict=True):
        check_tables(markdown)
        assert shape(markdown) == blocks
        for token in PARSER.parse(markdown):
            if token.type == "html_block":
                assert token.content in plain
            if token.type != "inline":
                continue
            assert set(inner_kinds(token)) <= kinds | {"text_special"}, token.content
            seen = "".join(child.content for child in token.children if child.type != "code_inline")
            assert linked_by_github(seen) == [], token.content
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", markdown)


def inner_kinds(token) -> list[str]:
    return [child.type for child in token.children or []]


# Limits.


def many(arm: Comparison, count: int, question: str) -> Comparison:
    """``count`` queries lost and as many gained at each level."""
    flip = arm.flips[0].lost[0]
    flips = [flip.model_copy(update={"id": f"q{number}", "question": question}) for number in range(count)]
    levels = [one.model_copy(update={"lost": flips, "gained": flips}) for one in arm.flips]
    return arm.model_copy(update={"flips": levels})


LONG = ["Was ist das für ein Tag 😀? " * 80, "|*_<@#" * 350, "\u4eca\u65e5 " * 700]


@pytest.mark.parametrize("question", LONG)
def test_thousands_of_long_questions_stay_within_the_limits(question, arms):
    arm, measurement = arms["worse"]
    run = run_of((many(arm, 250, question), measurement), arms["worse"], arms["refused"])
    summary, body = (render(*run, [], WHOLE) for render in (summary_markdown, pull_request_body))
    assert len(summary.encode()) <= LARGEST_SUMMARY < 1024 * 1024
    assert len(body.encode("utf-16-le")) // 2 <= LONGEST_BODY < 65_536
    for markdown in (summary, body):
        check_tables(markdown)
        assert markdown.count("<details>") == markdown.count("</details>")
        assert markdown.count("\n## Figures: ") == 3
        assert markdown.count("\n## Queries gained and lost: ") == 1
        assert re.search(
            r"## Left out for length\n\nSections that do not fit: 1.\n\n- Queries gained and lost: ", markdown
        )
        assert markdown.endswith(f"\n{WHOLE}\n")


def test_a_pull_request_shows_the_first_of_very_many_queries_and_says_how_many_more(arms):
    arm, measurement = arms["worse"]
    run = run_of((many(arm, 1000, "short?"), measurement))
    body = pull_request_body(*run, [], WHOLE)
    assert body.count("| short? |") == 4 * 40
    assert body.count(f"\nThe other 960 are left out for length. {WHOLE}\n") == 4
    assert summary_markdown(*run, [], WHOLE).count("| short? |") == 4000


def test_very_many_arms_stay_within_the_limits(arms):
    run = run_of(*[arms["worse"]] * 150)
    body = pull_request_body(*run, [], WHOLE)
    assert len(body.encode("utf-16-le")) // 2 <= LONGEST_BODY
    assert body.endswith(f"{WHOLE}\n")


def test_a_template_of_the_user_is_cut_too(arms, tmp_path):
    lines = "{% for i in range(9000) %}\nline {{ i }} of {{ run.verdict }}\n{% endfor %}"
    (tmp_path / "pull_request.md.j2").write_text(lines)
    body = pull_request_body(*run_of(arms["worse"]), [], WHOLE, tmp_path)
    assert len(body) <= LONGEST_BODY
    assert "The first section is cut short." in body
    assert ZERO_WIDTH_SPACE not in body
