"""What was written to one pool and what became of it. Without the texts: those of a shared pool may fill hundreds of
megabytes.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from membench.memories.protocol import Receipt
from membench.ruler.fragments import Fragment


@dataclass(frozen=True, slots=True)
class Written:
    """A fragment that was written: its unit, the session and the turns that it holds, and its text's fingerprints, as
    it was written and without blanks at its ends.
    """

    unit: str
    session: str
    turns: tuple[str, ...]
    text: bytes
    stripped: bytes


class Ledger:
    """What was written to one pool, in its order, and why each unit that does not stand in it is not there."""

    def __init__(self) -> None:
        self.written: list[Written] = []
        self.lost: dict[str, str] = {}

    def record(self, fragments: Sequence[Fragment], receipts: Sequence[Receipt]) -> None:
        """The next fragments, with the memory's receipt for each."""
        for fragment, receipt in zip(fragments, receipts, strict=True):
            text = fragment.unit.text
            whole = text_fingerprint(text)
            stripped = text.strip()
            self.written.append(
                Written(
                    fragment.unit.id,
                    fragment.session,
                    fragment.turns,
                    whole,
                    whole if len(stripped) == len(text) else text_fingerprint(stripped),
                )
            )
            if receipt.status != "stored":
                reason = f"{receipt.status}: {receipt.reason}" if receipt.reason else receipt.status
                self.lost[fragment.unit.id] = reason
        for fragment, receipt in zip(fragments, receipts, strict=True):
            for unit in receipt.displaced:
                self.lost[unit] = f"displaced by a later unit of {fragment.session}"

    def standing(self) -> Iterator[Written]:
        """What can be found by a search."""
        return (one for one in self.written if one.unit not in self.lost)

    def never_stored(self) -> int:
        """How many sessions were written of which nothing stands."""
        return len({one.session for one in self.written} - {one.session for one in self.standing()})


def text_fingerprint(text: str) -> bytes:
    """16 bytes by which one text is told from another."""
    return hashlib.blake2b(text.encode("utf-8", errors="surrogatepass"), digest_size=16).digest()
