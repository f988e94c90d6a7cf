"""Turns a Python memory into a command: `python serve.py SPEC` speaks JSON lines on standard input and output.

It runs in an interpreter of the caller's own, among its packages: so it is one file, needs the standard library only,
and keeps to Python 3.8. What it says is not checked here but where it is read. The Python bridge shares its upper half.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import json
import numbers
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, Callable, NamedTuple  # noqa: UP035 - Python 3.8

VERSION = "membench.memory/1"
_IDENTITY = ("name", "version", "backend", "settings", "ephemeral", "honours_as_of", "concurrency")


class Unusable(Exception):  # noqa: N818 - the text is all there is to it
    """The SPEC names nothing that can be used; the text says why."""


def find_factory(spec: str) -> Callable[..., Any]:
    """What `package.module:factory` or `path/file.py:factory` names. Raises Unusable."""
    place, _, name = spec.rpartition(":")
    try:
        found: Any = _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except (Exception, SystemExit) as error:
        raise Unusable(f"importing it: {cause(error)}") from error
    for part in name.split("."):
        if not hasattr(found, part):
            near = difflib.get_close_matches(part, [one for one in dir(found) if not one.startswith("_")], n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise Unusable(f"{place} has no {part!r}{hint}")
        found = getattr(found, part)
    if not callable(found):
        raise Unusable(f"{name} is no class and no function but {found!r:.60}")
    factory: Callable[..., Any] = found
    return factory


def folders_of(spec: str) -> list[str]:
    """Where its imports are looked for first: the working folder, and that of a file."""
    place = spec.rpartition(":")[0]
    folders = [str(Path.cwd())]
    if place.endswith(".py"):
        folders.insert(0, str(Path(place).resolve().parent))
    return folders


def takes_embedder(factory: Callable[..., Any]) -> bool:
    """Whether it has a parameter of that name."""
    parameters = _parameters(factory)
    return parameters is not None and "embedder" in parameters


def build(factory: Callable[..., Any], options: dict[str, str], **more: Any) -> Any:
    """The memory that the factory makes. Raises Unusable for options it does not take and an object without a call."""
    parameters = _parameters(factory)
    if parameters is not None:
        try:
            inspect.signature(factory).bind(**options, **more)
        except TypeError as error:
            names = [name for name in parameters if name not in more]
            raise Unusable(f"its factory does not take these options: {error}; it has {names or 'none'}") from error
    memory = factory(**options, **more)
    return complete(memory, "describe", "open")


def settled(value: Any, call: str) -> Any:
    """``value``. Raises TypeError where it is yet to be awaited."""
    if not inspect.isawaitable(value):
        return value
    if inspect.iscoroutine(value):
        value.close()
    raise TypeError(f"{call}() is async, and the calls are plain ones: let it run to its end inside, by asyncio.run")


def complete(thing: Any, *calls: str) -> Any:
    """``thing``. Raises Unusable where it lacks one of ``calls``."""
    for name in calls:
        if not callable(getattr(thing, name, None)):
            raise Unusable(f"a {type(thing).__name__} has no {name}(), expected {', '.join(calls)}")
    return thing


def plain_identity(value: Any) -> Any:
    """A dict, or an object with its fields as attributes, as a dict."""
    if isinstance(value, dict) or not hasattr(value, "name"):
        return value
    told = {name: getattr(value, name) for name in _IDENTITY if hasattr(value, name)}
    return {**told, "settings": dict(told.get("settings") or {})}


def plain_receipts(value: Any) -> Any:
    """Words, dicts or objects, as words and dicts."""
    return {"receipts": _listed(value, _plain_receipt)}


def plain_hits(value: Any) -> Any:
    """Pairs of unit and score, dicts or objects, as dicts."""
    return {"hits": _listed(value, _plain_hit)}


def cause(error: BaseException) -> str:
    """What went wrong, and in which line of the caller's own."""
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg} ({_shown(error.filename)}:{error.lineno})"
    lines = []
    trace = error.__traceback__
    while trace is not None:
        lines.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - a frame's file need not be one
    lines = [(file, line) for file, line in lines if not file.startswith((here, "<"))]
    own = [(file, line) for file, line in lines if not {"site-packages", "dist-packages"} & set(Path(file).parts)]
    own = [(file, line) for file, line in own if not file.startswith(os.path.dirname(os.__file__))] or own  # noqa: PTH120
    return f"{said} ({_shown(own[-1][0])}:{own[-1][1]})" if own else said


def _shown(file: str | None) -> str:
    folder = str(Path.cwd()) + os.sep
    return file[len(folder) :] if file and file.startswith(folder) else str(file)


def _from_file(path: Path) -> Any:
    path = path.resolve()
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    name = path.stem
    # Two files may have one name, and a file that of a module.
    while name in sys.modules:
        if getattr(sys.modules[name], "__file__", None) == str(path):
            return sys.modules[name]
        name += "_"
    found = importlib.util.spec_from_file_location(name, path)
    if found is None or found.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _parameters(factory: Callable[..., Any]) -> list[str] | None:
    """None for compiled code that does not tell."""
    try:
        return list(inspect.signature(factory).parameters)
    except (TypeError, ValueError):
        return None


def _listed(value: Any, plain: Callable[[Any], Any]) -> Any:
    if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__iter__"):
        return value
    return [plain(one) for one in value]


def _plain_receipt(value: Any) -> Any:
    if isinstance(value, (str, dict)) or not hasattr(value, "status"):
        return value
    return {
        "status": value.status,
        "reason": getattr(value, "reason", None),
        "displaced": list(getattr(value, "displaced", ())),
    }


def _plain_hit(value: Any) -> Any:
    if isinstance(value, dict):
        return {**value, "score": _number(value["score"])} if "score" in value else value
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return {"unit": value[0], "score": _number(value[1])}
    if not hasattr(value, "score"):
        return value
    return {
        "score": _number(value.score),
        "unit": getattr(value, "unit", None),
        "text": getattr(value, "text", None),
    }


def _number(value: Any) -> Any:
    """A number of NumPy as one of Python; what is no number stays what it is, to be refused."""
    if type(value) is float or isinstance(value, bool) or not isinstance(value, numbers.Real):
        return value
    return float(value)


class Unit(NamedTuple):
    """What is written once; ``time`` is None where unknown."""

    id: str
    session: str
    text: str
    time: datetime | None


class _Server:
    def __init__(self, spec: str, output: Any) -> None:
        self._spec = spec
        self._output = output
        self._lock = threading.Lock()
        self._memory: Any = None
        self._stores: dict[str, Any] = {}
        self._searchers: ThreadPoolExecutor | None = None

    def run(self, lines: Any) -> None:
        for line in lines:
            call = json.loads(line)
            if call["call"] == "search" and self._searchers is not None:
                self._searchers.submit(self._answer, call)
            else:
                self._answer(call)

    def _answer(self, call: dict[str, Any]) -> None:
        try:
            said = {"id": call["id"], "result": self._result(call)}
        except Unusable as error:
            said = {"id": call["id"], "error": str(error)}
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is the answer
            said = {"id": call["id"], "error": cause(error)}
        # What JSON does not know is told by its looks, and refused as what it is where it is read.
        line = json.dumps(said, default=repr).encode() + b"\n"
        with self._lock:
            self._output.write(line)
            self._output.flush()

    def _result(self, call: dict[str, Any]) -> Any:
        if call["membench"] != VERSION:
            raise Unusable(f"it was asked in {call['membench']!r:.60}, and speaks {VERSION}")
        asked = call["call"]
        if asked == "describe":
            return self._describe(call["options"])
        pool = call["pool"]
        if asked == "open":
            self._stores[pool] = complete(settled(self._memory.open(pool), "open"), "write", "search", "close")
            return {}
        store = self._stores[pool]
        if asked == "write":
            units = [Unit(one["id"], one["session"], one["text"], _moment(one["time"])) for one in call["units"]]
            return plain_receipts(settled(store.write(units), "write"))
        if asked == "search":
            return plain_hits(settled(store.search(call["query"], call["limit"], _moment(call["as_of"])), "search"))
        settled(store.close(), "close")
        del self._stores[pool]
        return {}

    def _describe(self, options: dict[str, str]) -> Any:
        if self._memory is None:
            self._memory = build(find_factory(self._spec), options)
        told = plain_identity(settled(self._memory.describe(), "describe"))
        searches = told.get("concurrency", 1) if isinstance(told, dict) else 1
        if self._searchers is None and isinstance(searches, int) and searches > 1:
            self._searchers = ThreadPoolExecutor(min(searches, 64))
        return told


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def main(spec: str) -> None:
    """Answers until standard input ends. What the memory prints goes to standard error; it reads nothing."""
    lines = os.fdopen(os.dup(0), "rb")
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    # The folder of this file is no place for the caller's imports.
    sys.path[:] = [*folders_of(spec), *(one for one in sys.path if one != str(Path(__file__).resolve().parent))]
    _Server(spec, output).run(lines)


if __name__ == "__main__":
    main(sys.argv[1])
