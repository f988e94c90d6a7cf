"""How turns become the text that is written to a memory."""

from collections.abc import Iterable
from dataclasses import dataclass

from membench.corpora.types import Turn


@dataclass(frozen=True, slots=True)
class TextOptions:
    """``captions`` adds what a shared image shows; ``speakers`` puts the speaker's name before the text."""

    captions: bool = False
    speakers: bool = False


def turn_text(turn: Turn, options: TextOptions) -> str:
    """The text of one turn, otherwise as the corpus has it: blanks at its ends are kept."""
    text = turn.text
    if options.captions and turn.caption:
        text = f"{text} [shared image: {turn.caption}]"
    return f"{turn.speaker}: {text}" if options.speakers and text.strip() else text


def transcript(turns: Iterable[Turn], options: TextOptions) -> str:
    """Several turns as one text, a line each, blank turns left out."""
    return "\n".join(text for turn in turns if (text := turn_text(turn, options).strip()))
