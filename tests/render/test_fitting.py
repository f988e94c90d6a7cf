"""A document that is too long is cut between its sections, and says so."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from membench.render.fitting import fit, utf8_bytes, utf16_units

WHOLE = "Every file is in [the run](https://example.org)."
# What the note may take; a limit has to leave room for it.
ROOM = 6000


def section(name: str, lines: int, line: str = "words of this section") -> str:
    return f"## {name}\n\n" + f"{line}\n" * lines


def headings(document: str) -> list[str]:
    return re.findall(r"^## (.*)$", document, re.MULTILINE)


def test_what_fits_is_left_as_it_is():
    document = "# title\n" + section("a", 9)
    assert fit(document, utf8_bytes(document), utf8_bytes, WHOLE) == document
    assert fit(document, utf8_bytes(document) - 1, utf8_bytes, WHOLE) != document


def test_sections_that_fit_stay_in_order_and_those_left_out_are_named_with_their_length():
    long, longer = section("long one", 300), section("longer", 400)
    parts = ["# title\n\n", section("a", 5), long, section("b", 5), longer, section("c", 5)]
    fitted = fit("".join(parts), 3000, utf8_bytes, WHOLE)
    assert utf8_bytes(fitted) <= 3000
    assert fitted.startswith("".join([parts[0], parts[1], parts[3], parts[5]]))
    assert headings(fitted) == ["a", "b", "c", "Left out for length"]
    assert f"- long one ({len(long):,} characters)\n- longer ({len(longer):,} characters)\n" in fitted
    assert fitted.endswith(f"\n{WHOLE}\n")


def test_a_heading_in_code_or_in_a_folding_is_no_boundary():
    fenced = "## real\n\n````text\n```\n## not\n```\n## nor this\n````\n"
    folded = (
        "## folded\n\n<details><summary>x</summary>\n\n## not either\n<details>\n</details>\n## nor\n\n</details>\n"
    )
    fitted = fit("# t\n" + fenced + folded + section("long", 500), 2500, utf8_bytes, WHOLE)
    assert fenced + folded in fitted
    fitted = fit(
        "# t\n" + section("long", 500) + fenced.replace("nor this", "x" * 3000) + "tail", 2500, utf8_bytes, WHOLE
    )
    assert headings(fitted) == ["Left out for length"]
    assert "- real (" in fitted


def test_a_first_section_that_is_too_long_is_cut_at_a_line_and_what_is_open_is_closed():
    document = (
        "# t\n\n<details>\n<summary>s</summary>\n\n~~~~text\n" + "a line of code\n" * 500 + "~~~~\n\n</details>\n"
    )
    fitted = fit(document + section("b", 2), 2000, utf8_bytes, WHOLE)
    assert utf8_bytes(fitted) <= 2000
    assert "a line of code\n~~~~\n\n</details>\n\n## Left out for length\n\nThe first section is cut short." in fitted
    assert "- b (" in fitted
    assert fitted.endswith(f"{WHOLE}\n")
    kinds = [token.type for token in MarkdownIt("commonmark").parse(fitted)]
    assert kinds.count("heading_open") == 2


def test_what_is_closed_is_within_the_limit_wherever_it_is_cut():
    document = "<details>\n" * 20 + "\n````text\n" + "ab\n" * 300 + "````\n" + "\n</details>\n" * 20
    for limit in range(1000, 1020):
        assert utf8_bytes(fit(document, limit, utf8_bytes, WHOLE)) <= limit


def test_a_line_that_is_too_long_by_itself_is_left_out():
    fitted = fit("x" * 9000 + "\n", 1000, utf8_bytes, WHOLE)
    assert "x" not in fitted.split("##")[0]
    assert "The first section is cut short." in fitted


def test_very_many_sections_are_not_all_named():
    document = "# t\n" + "".join(section("n" * 150 + str(number), 40) for number in range(3000))
    fitted = fit(document, 20_000, utf8_bytes, WHOLE)
    assert utf8_bytes(fitted) <= 20_000
    kept = fitted.count("\n## n")
    assert f"Sections that do not fit: {3000 - kept:,}.\n" in fitted
    assert f"- and {3000 - kept - 20:,} more\n" in fitted


def test_a_measure_counts_what_github_counts():
    assert utf8_bytes("aé€😀") == 1 + 2 + 3 + 4
    assert utf16_units("aé€😀") == 1 + 1 + 1 + 2
    assert utf16_units("a\n") == 3


LINES = st.sampled_from(
    ["## a", "## b | c", "text", "```", "~~~", "````x", "<details>", "</details>", "", "😀" * 40, "é" * 90, "| a | b |"]
)


@pytest.mark.parametrize("measure", [utf8_bytes, utf16_units])
@settings(max_examples=60, deadline=None)
@given(lines=st.lists(LINES, max_size=400), limit=st.integers(ROOM, 3 * ROOM), times=st.sampled_from([1, 1, 5]))
def test_no_document_is_over_the_limit_and_none_changes_what_it_keeps(measure, lines, limit, times):
    document = "\n".join(lines * times) + "\n"
    fitted = fit(document, limit, measure, WHOLE)
    assert measure(fitted) <= limit
    if measure(document) <= limit:
        assert fitted == document
    else:
        assert fitted.endswith(f"{WHOLE}\n")
        kept = fitted.split("\n## Left out for length")[0].split("\n")
        assert set(kept) <= {*lines, "", "```", "~~~", "````", "</details>"}
