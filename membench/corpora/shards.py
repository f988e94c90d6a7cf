"""Shards: the instances of a corpus dealt out to several runs, each to one of them, evenly by their tokens."""

import hashlib
import heapq
import re
from collections.abc import Mapping
from dataclasses import dataclass

from membench.errors import UsageError

_WRITTEN = re.compile(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8})")


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard ``number`` of ``of``, counted from 1."""

    number: int
    of: int


def parse_shard(text: str) -> Shard:
    """``2/4`` to the second of four. UsageError for anything else, and for a number that is not among them."""
    written = _WRITTEN.fullmatch(text)
    if written is None or int(written[1]) > int(written[2]):
        raise UsageError(
            f"--shard {text}: expected I/N, the I-th of N shards, with I from 1 to N.", "Write it such as --shard 2/4."
        )
    return Shard(int(written[1]), int(written[2]))


def assign(weights: Mapping[str, int], of: int) -> dict[str, int]:
    """The shard, from 1 to ``of``, of each instance id in ``weights``.

    The heaviest instance goes first, each to the shard that is the lightest so far, of equally light ones to that with
    the fewest instances, then to the lowest number. Instances of one weight go in the order of the SHA-256 of their
    ids. So the result depends on ids and weights alone, not on their order; no shard is empty; and two shards differ by
    no more than the heaviest instance. UsageError where there are fewer instances than shards.
    """
    if len(weights) < of:
        raise UsageError(
            f"{of} shards of {len(weights)} instances: expected an instance for each shard at least.",
            f"Ask for {len(weights)} shards at most, or for more instances.",
        )
    loads = [(0, 0, number) for number in range(1, of + 1)]
    shards: dict[str, int] = {}
    for name in sorted(weights, key=lambda name: (-weights[name], _hash(name))):
        weight, instances, number = heapq.heappop(loads)
        heapq.heappush(loads, (weight + weights[name], instances + 1, number))
        shards[name] = number
    return shards


def _hash(name: str) -> bytes:
    # JSON can hold half a surrogate pair, which UTF-8 cannot.
    return hashlib.sha256(name.encode(errors="surrogatepass")).digest()
