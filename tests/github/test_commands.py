"""What the runner reads from the log and from the files."""

import re

import pytest

from membench.errors import StorageError
from membench.github import commands


def read_outputs(text):
    """As the runner does: name<<delimiter, lines, delimiter."""
    found = {}
    lines = iter(text.split("\n"))
    for line in lines:
        if line:
            name, end = line.split("<<")
            value = []
            for inner in lines:
                if inner == end:
                    break
                value.append(inner)
            found[name] = "\n".join(value)
    return found


def test_outputs_are_read_back_whatever_they_hold(tmp_path):
    path = tmp_path / "output"
    outputs = {"verdict": "mixed", "empty": "", "evil": "a\nverdict<<x\nimproved\nx\n::error::no"}
    commands.write_outputs(path, {"report-dir": "r"})
    commands.write_outputs(path, outputs)
    assert read_outputs(path.read_text()) == {"report-dir": "r", **outputs}


def test_without_a_runner_nothing_is_written():
    commands.write_outputs(None, {"a": "b"})
    commands.write_summary(None, "x")


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(StorageError):
        commands.write_summary(tmp_path / "absent" / "summary", "x")


def test_an_annotation_is_one_line_and_is_cut_where_the_runner_would(capsys):
    commands.annotate("error", "a: b, c", "100% broken\nremedy")
    commands.annotate("notice", "long", "x" * 5000)
    first, second, end = capsys.readouterr().out.split("\n")
    assert first == "::error title=a%3A b%2C c::100%25 broken%0Aremedy"
    assert (len(second), end) == (len("::notice title=long::") + 4096, "")


@pytest.mark.parametrize("line", ["::error::x", "  ::set-output name=a::b", "##[error]x", "a\n::stop-commands::b"])
def test_a_line_of_the_log_is_never_a_command(capsys, line):
    commands.say(line)
    assert not [part for part in capsys.readouterr().out.split("\n") if re.match(r"(::|##\[)", part)]


def test_a_secret_of_several_lines_is_masked_line_by_line(capsys):
    commands.mask("one\ntwo\n\n")
    assert capsys.readouterr().out == "::add-mask::one\n::add-mask::two\n"


def test_a_group_is_closed_whatever_happens(capsys):
    with pytest.raises(ValueError, match="x"), commands.group("G"):
        raise ValueError("x")
    assert capsys.readouterr().out == "::group::G\n::endgroup::\n"
