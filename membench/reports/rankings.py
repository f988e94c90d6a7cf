"""The full ranked lists, one query a line, for looking into a figure; compressed, the same bytes for the same lists."""

import gzip
from collections.abc import Iterable

import orjson

from membench.ruler.scoring import Scored

# Enough to tell scores apart; the last bits of a float64 score depend on the processor, and no rank does.
_SCORE_DECIMALS = 9


def rankings_lines(queries: Iterable[Scored]) -> bytes:
    """UTF-8 JSON lines: the query's id, and its hits as {session, turns, score}, best first."""
    lines = []
    for query in queries:
        hits = [
            {"session": session, "turns": list(turns), "score": round(score, _SCORE_DECIMALS)}
            for session, turns, score in query.hits
        ]
        lines.append(orjson.dumps({"query": query.id, "hits": hits}, option=orjson.OPT_APPEND_NEWLINE))
    return b"".join(lines)


def packed(lines: bytes) -> bytes:
    """``lines`` as gzip, without a name or a time in it."""
    return gzip.compress(lines, compresslevel=6, mtime=0)
