"""A folder of the user's own templates: theirs first, ours for the rest, and every failure a message."""

from pathlib import Path

import pytest

from membench.compare.compare import compare
from membench.errors import UsageError
from membench.render.comparison import comparison_markdown
from membench.render.engine import TEMPLATES, check_templates


@pytest.fixture
def comparison(clean):
    return compare(clean, clean)


def written(folder: Path, **templates: str) -> Path:
    for name, text in templates.items():
        (folder / f"{name}.md.j2").write_text(text)
    return folder


def test_a_template_of_the_user_goes_before_ours(tmp_path, comparison):
    folder = written(tmp_path, comparison="{{ arm.comparison.verdict }} {{ '@a|b' | escaped }} {{ 0.25 | figure }}\n")
    assert comparison_markdown(comparison, folder) == "unchanged @\u200ba\\|b 0.2500\n"
    assert comparison_markdown(comparison).startswith("# sample.")


def test_what_the_folder_lacks_is_ours(tmp_path, comparison):
    assert comparison_markdown(comparison, tmp_path) == comparison_markdown(comparison)


def test_ours_can_be_included_and_imported_and_a_part_of_it_replaced(tmp_path, comparison):
    folder = written(
        tmp_path,
        comparison='{% import "parts.md.j2" as parts %}{{ parts.headline([arm]) }}{% include "mine.md.j2" %}',
        mine="own {{ arm.stem }}\n",
    )
    text = comparison_markdown(comparison, folder)
    assert text.startswith("| arm | figure |")
    assert text.endswith(f"own {comparison.candidate.stem}\n")
    parts = (TEMPLATES / "parts.md.j2").read_text().replace("| arm | figure |", "| Arm | Zahl |")
    (tmp_path / "other").mkdir()
    assert "| Arm | Zahl |" in comparison_markdown(comparison, written(tmp_path / "other", parts=parts))


def test_ours_can_be_extended_by_what_replaces_it(tmp_path, comparison):
    folder = written(
        tmp_path,
        comparison='{% extends "membench/comparison.md.j2" %}{% block figures %}mine {{ arm.stem }}\n{% endblock %}',
    )
    text, ours = comparison_markdown(comparison, folder), comparison_markdown(comparison)
    assert text.split("mine ")[0] == ours.split("## Figures")[0]
    assert text.split("## What was compared")[1] == ours.split("## What was compared")[1].removesuffix("\n") + "\n"
    assert "<details>" not in text


FAILING = {
    "a syntax error": ("one\n{% for %}\n", 2, "Expected an expression"),
    "a tag that is not closed": ("one\n\n{% if arm %}\n", 3, "endif"),
    "an undefined name": ("one\ntwo\n{{ nothing }}\n", 3, "'nothing' is undefined"),
    "an undefined field": ("{{ arm.stem }}\n{{ arm.comparison.verdicts }}\n", 2, "verdicts"),
    "an unknown filter": ("\n{{ arm.stem | shout }}\n", 2, "shout"),
    "a missing include": ('\n\n{% include "absent.md.j2" %}\n', 3, "no template absent.md.j2"),
    "an include from outside": ('{% include "../secret.md.j2" %}\n', 1, "no template ../secret.md.j2"),
    "an absolute include": ('{% include "/etc/passwd" %}\n', 1, "no template /etc/passwd"),
    "an include without end": ('\n{% include "comparison.md.j2" %}\n', 2, "without end"),
    "a division by zero": ("\n{{ 1 / 0 }}\n", 2, "division by zero"),
    "a wrong type": ("{{ arm.stem + 1 }}\n", 1, "str"),
    "an endless range": ("\n{% for i in range(10 ** 12) %}{% endfor %}\n", 2, "Range too big"),
    "the class of a string": ("{{ ''.__class__.__mro__ }}\n", 1, "unsafe"),
    "the globals of a function": ("{{ range.__globals__ }}\n", 1, "unsafe"),
    "the globals of a macro": ("{% macro m() %}{% endmacro %}\n{{ m.__init__.__globals__ }}\n", 2, "unsafe"),
    "a format that reaches further": ("{{ '{0.__class__}'.format(arm) }}\n", 1, "unsafe"),
    "a file through a model": ("\n{{ arm.comparison.parse_file('/etc/passwd') }}\n", 2, "unsafe"),
    "a pickle through a model": ("{{ arm.comparison.parse_raw('x', allow_pickle=true) }}\n", 1, "unsafe"),
    "the schema of a model": ("{{ arm.comparison.model_json_schema() }}\n", 1, "unsafe"),
    "a change of what is shown": ("{{ arm.headline.clear() }}\n", 1, "unsafe"),
    "an attribute filter": ("{{ arm.comparison | attr('model_dump') }}\n", 1, "unsafe"),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_template_that_fails_is_named_with_its_line_and_the_cause(name, tmp_path, comparison):
    text, line, cause = FAILING[name]
    with pytest.raises(UsageError) as caught:
        comparison_markdown(comparison, written(tmp_path, comparison=text))
    assert caught.value.exit_code == 2
    assert f"{tmp_path / 'comparison.md.j2'}, line {line}: " in caught.value.what
    assert cause in caught.value.what


def test_the_innermost_template_is_the_one_that_is_named(tmp_path, comparison):
    folder = written(tmp_path, comparison='\n{% include "mine.md.j2" %}', mine="\n\n\n{{ oops }}")
    with pytest.raises(UsageError, match=r"mine\.md\.j2, line 4: 'oops' is undefined"):
        comparison_markdown(comparison, folder)


def test_what_is_no_template_at_all_is_said_to_fail(tmp_path, comparison):
    (tmp_path / "comparison.md.j2").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"comparison\.md\.j2: .*utf-8"):
        comparison_markdown(comparison, tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path, comparison):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "absent", tmp_path / "file"):
        with pytest.raises(UsageError, match=str(folder)):
            comparison_markdown(comparison, folder)


def test_ours_lie_where_users_find_them():
    root = Path(__file__).parents[2] / "templates"
    assert TEMPLATES.resolve() == root
    assert {path.name for path in root.iterdir()} >= {"comparison.md.j2", "summary.md.j2", "pull_request.md.j2"}


def test_a_folder_can_be_checked_before_anything_is_measured(tmp_path):
    check_templates(tmp_path)
    (tmp_path / "parts").mkdir()
    written(tmp_path / "parts", good="{{ not_known_yet }}")
    check_templates(tmp_path)
    written(tmp_path / "parts", bad="\n{% if %}")
    with pytest.raises(UsageError, match=r"parts/bad\.md\.j2, line 2: "):
        check_templates(tmp_path)
    with pytest.raises(UsageError, match="absent"):
        check_templates(tmp_path / "absent")
