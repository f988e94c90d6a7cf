"""Strings that would break or abuse a document, and what a real Markdown parser makes of one."""

import re

from markdown_it import MarkdownIt

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
ZERO_WIDTH_SPACE = "\u200b"

HOSTILE = [
    "a | b || c",
    "back\\slash \\| and \\\\| pipes",
    "<script>alert(1)</script><!-- ",
    "</details></summary><details open><h1>",
    "<img src=x onerror=alert(1)> &amp; &lt;b&gt;",
    "@octocat and @github/team, mail@example.org",
    "#123, fixes #7, GH-12, gh-3, owner/repo#4",
    "two\nlines\r\n\r\n| a | row |\n\n# heading",
    "\n## heading\n\n```mermaid\nxychart-beta\n```\n",
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
    "\x1b[31mred\x1b[0m, \x07bell, \x00nul, \x9bcsi",
    "user\u202egnp.exe\u202c, \u2066isolated\u2069, \u200fmark, \U000e0041tag",
    "very long " * 500,
    "snake_case_name and 3 * 4 = 12",
]


def plain(inline) -> str:
    """What a reader sees of an inline token that must hold no markup."""
    kinds = {child.type for child in inline.children}
    assert kinds <= {"text", "text_special"}, (kinds, inline.content)
    return "".join(child.content for child in inline.children).replace(ZERO_WIDTH_SPACE, "")


def linked_by_github(text: str) -> list[str]:
    """What GitHub makes of the text after it has read the Markdown: mentions, references, addresses."""
    patterns = (r"(?<![\w`])@[\w-]+", r"\w@\w", r"#\d+", r"\b[Gg][Hh]-\d+", r"\w+://\w", r"\bwww\.\w")
    return [found for pattern in patterns for found in re.findall(pattern, text, re.IGNORECASE)]


def shape(markdown: str) -> list[str]:
    """The blocks of a report, in order: headings, rows, cells, items, none of which a string can add or take away."""
    return [token.type for token in PARSER.parse(markdown) if token.type != "inline"]


def rows(markdown: str) -> list[list[str]]:
    """The rows as they are written, without the padding that a parser gives to those that are too short."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [re.split(r"(?<!\\)(?:\\\\)*\|", line.strip())[1:-1] for line in lines]


def tables(markdown: str) -> list[list[list[str]]]:
    """The rows of each table of a document."""
    return [rows(block) for block in re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE)]
