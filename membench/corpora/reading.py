"""JSON values from a file, one at a time: of an array, one a line, or of an array inside an object; gzip or plain."""

import gzip
import io
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import ijson
import orjson

from membench.errors import CorpusError

_REMEDY = "Fetch it again, or mend the file: a JSON array, or one JSON object a line, gzip or plain."
_WRONG_FORMAT = "Mend the file, or give its own --format."

# Of the order of one value: in pieces of gzip's own size the calls cost a tenth of a reading.
_BUFFER = 1 << 20


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        with path.open("rb") as plain:
            packed = plain.read(2) == b"\x1f\x8b"
            plain.seek(0)
            with io.BufferedReader(gzip.GzipFile(fileobj=plain), _BUFFER) if packed else plain as stream:
                # Editors put a byte order mark there, which is no part of the JSON.
                if stream.read(len(BOM_UTF8)) != BOM_UTF8:
                    stream.seek(0)
                yield stream
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise CorpusError(f"{path}: the gzip stream is damaged or cut short: {error}", _REMEDY) from error
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read: {error.strerror or error}", "Check the path.") from error


def _first_byte(stream: IO[bytes]) -> bytes:
    while (byte := stream.read(1)).isspace():
        pass
    return byte


def json_values(path: Path, array: str = "") -> Iterator[Any]:
    """The values of ``path`` in file order; never more than one is held.

    ``array`` names the member that holds them where the file is one object; without it the file is a JSON array or
    one object a line. Raises CorpusError that names the value at which the JSON breaks off.
    """
    with _opened(path) as stream:
        start = stream.tell()
        first = _first_byte(stream)
        stream.seek(start)
        if first == b"[" or array:
            yield from _array_values(path, stream, array)
        elif first == b"{":
            yield from _lines(path, stream)
        else:
            raise CorpusError(f"{path}: is neither a JSON array nor one JSON object a line", _REMEDY)


def json_member(path: Path, name: str) -> Any:
    """The member ``name`` of the object in ``path``, None where there is none. What stands after it is not read."""
    with _opened(path) as stream:
        try:
            return next(ijson.items(stream, name, use_float=True), None)
        except (ijson.JSONError, UnicodeDecodeError) as error:
            raise CorpusError(f"{path}: invalid JSON: {_one_line(error)}", _REMEDY) from error


def _array_values(path: Path, stream: IO[bytes], array: str) -> Iterator[Any]:
    done = 0
    prefix = f"{array}.item" if array else "item"
    try:
        for value in ijson.items(stream, prefix, use_float=True):
            yield value
            done += 1
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path}: invalid JSON in value {done + 1}: {_one_line(error)}", _REMEDY) from error
    if array and not done:
        raise CorpusError(f"{path}: expected a JSON object with an array {array!r} that holds something", _WRONG_FORMAT)


def _lines(path: Path, stream: IO[bytes]) -> Iterator[Any]:
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise CorpusError(f"{path}: invalid JSON on line {number}: {_one_line(error)}", _REMEDY) from error
        yield value


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
