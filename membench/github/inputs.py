"""The action's inputs: read from the environment as the runner sets it, and checked before anything is done."""

import difflib
import re
import shlex
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from membench.corpora.catalog import CORPORA, Format
from membench.corpora.corpus import FORMATS
from membench.corpora.locomo import Gold
from membench.corpora.shards import Shard, parse_shard
from membench.embedding.catalog import DEFAULT_MODEL
from membench.errors import UsageError
from membench.memories.options import named_options
from membench.ruler.arm import Pool
from membench.ruler.fragments import Granularity

PREFIX = "INPUT_"
ActionTimeline = Literal["now", "anchored", "asked"]
"""Those that need no date of their own."""

# What Git refuses in a branch's name (git check-ref-format).
_BAD_BRANCH = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[/.-]|[/.]$|\.lock(/|$)|/\.")


def _words(text: object) -> object:
    return tuple(dict.fromkeys(re.split(r"[\s,]+", text.strip(" \n\t,")))) if isinstance(text, str) else text


def _pairs(text: object) -> object:
    if not isinstance(text, str):
        return text
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"the quotes do not match ({error})") from error
    try:
        return named_options(words)
    except UsageError as error:
        raise ValueError(error.what.rstrip(".")) from error


def _labels(text: object) -> object:
    return tuple(dict.fromkeys(filter(None, map(str.strip, text.split(","))))) if isinstance(text, str) else text


def _switch(text: object) -> object:
    if isinstance(text, str):
        if text not in ("true", "false"):
            raise ValueError("expected true or false")
        return text == "true"
    return text


def _window(text: object) -> object:
    if not isinstance(text, str):
        return text
    # Imported here: it loads llama.cpp, and this module is loaded before a run can be cancelled.
    from membench.embedding.choice import input_window_of

    try:
        return input_window_of(text)
    except UsageError as error:
        raise _expected(error) from error


def _shard(text: object) -> object:
    if not isinstance(text, str):
        return text
    try:
        return parse_shard(text)
    except UsageError as error:
        raise _expected(error) from error


def _expected(error: UsageError) -> ValueError:
    """What was expected, without the option of the command and the value that the message begins with."""
    return ValueError(error.what.rpartition(": ")[2].rstrip("."))


def _branch(name: str) -> str:
    # What github.ref gives.
    name = name.removeprefix("refs/heads/")
    if _BAD_BRANCH.search(name):
        raise ValueError("expected the name of a branch")
    return name


def _folder(text: str) -> str:
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not path.parts or path.parts[0] == ".git":
        raise ValueError("expected a folder below the root of the repository")
    return str(path)


Count = Annotated[int, Field(ge=1)]
Branch = Annotated[str, AfterValidator(_branch)]
Switch = Annotated[bool, BeforeValidator(_switch)]


class Inputs(BaseModel):
    """Every input of `action.yml` under its own name, and its default. An input that is empty has its default.

    ``input_window`` None is `full`.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=lambda name: name.replace("_", "-"), hide_input_in_errors=True
    )

    corpus: str = "locomo10"
    format: Format | None = None
    timelines: Annotated[tuple[ActionTimeline, ...], BeforeValidator(_words)] = ("now",)
    granularity: Granularity = "turn"
    pool: Pool = "own"
    memory: str = "episodic"
    memory_options: Annotated[dict[str, str], BeforeValidator(_pairs)] = Field(default_factory=dict)
    memory_python: str = "python3"
    setup: str | None = None
    model: str = DEFAULT_MODEL
    instances: Count | None = None
    queries: Count | None = None
    gold: Gold = "verbatim"
    input_window: Annotated[Count | None, BeforeValidator(_window)] = None
    workers: Count | None = None
    shard: Annotated[Shard | None, BeforeValidator(_shard)] = None
    measurements: str | None = None
    baseline_dir: Annotated[str, AfterValidator(_folder)] = "baselines"
    baseline_pr: Switch = True
    baseline_branch: Branch = "membench/baselines"
    base: Branch | None = None
    pr_labels: Annotated[tuple[str, ...], BeforeValidator(_labels)] = ()
    pr_draft: Switch = False
    github_token: str | None = Field(default=None, repr=False)
    cache_dir: str = ".membench-cache"
    report_dir: str = "membench-reports"
    templates: str | None = None


def read_inputs(environment: Mapping[str, str], workspace: Path) -> Inputs:
    """The inputs that ``environment`` holds as `INPUT_<NAME>`.

    Raises UsageError for an unknown name, for a value that is not one of those allowed, and for a path that leads out
    of ``workspace``: the container sees nothing else of the runner.
    """
    given = {
        name.removeprefix(PREFIX).replace(" ", "-").lower(): value.strip()
        for name, value in environment.items()
        if name.startswith(PREFIX) and value.strip()
    }
    known = [str(field.alias) for field in Inputs.model_fields.values()]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise UsageError(f"There is no input {name!r}.{hint}", f"The inputs: {', '.join(known)}.")
    try:
        inputs = Inputs.model_validate(given)
    except ValidationError as error:
        raise _malformed(error.errors()[0], given) from error
    for name in ("cache_dir", "report_dir", "templates", "measurements"):
        if (value := getattr(inputs, name)) is not None:
            _require_inside(name.replace("_", "-"), value, workspace)
    _require_apart(inputs, workspace)
    _require_shardable(inputs)
    if inputs.format is None and inputs.corpus not in CORPORA and (workspace / inputs.corpus).exists():
        raise UsageError(
            f"The input corpus is {inputs.corpus!r}, a file of the workspace: say how it is written.",
            f"Set the input format to {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.",
        )
    return inputs


def _malformed(first: Any, given: Mapping[str, str]) -> UsageError:
    name = str(first["loc"][0])
    problem = str(first["msg"]).removeprefix("Value error, ")
    shown = given[name] if len(given[name]) <= 60 else f"{given[name][:60]}..."
    return UsageError(f"The input {name} is {shown!r}: {problem}.", f"See {name} in action.yml and in the README.")


def _require_inside(name: str, value: str, workspace: Path) -> None:
    outside = not (workspace / value).resolve().is_relative_to(workspace.resolve())
    if outside or value.startswith("~"):
        raise UsageError(
            f"The input {name} is {value!r}: that is outside of the workspace, which is all that the action sees.",
            "Write it relative to the root of the workspace, without a leading slash.",
        )


def _require_shardable(inputs: "Inputs") -> None:
    if inputs.shard is None:
        return
    written = f"{inputs.shard.number}/{inputs.shard.of}"
    if inputs.measurements is not None:
        raise UsageError(
            f"The inputs shard and measurements are {written!r} and {inputs.measurements!r}: "
            "with measurements nothing is measured, a shard neither.",
            "Give shard to the jobs that measure, and measurements to the one that merges what they wrote.",
        )
    if inputs.pool == "shared":
        raise UsageError(
            f"The inputs shard and pool are {written!r} and {inputs.pool!r}: shards share out the instances, "
            "and a shared pool is one store for all of them.",
            "Leave shard empty, or set pool to own.",
        )


def _require_apart(inputs: "Inputs", workspace: Path) -> None:
    """A report that is written over a baseline, or kept in the cache, would be taken for what it is not."""
    named = {"report-dir": inputs.report_dir, "cache-dir": inputs.cache_dir, "baseline-dir": inputs.baseline_dir}
    if inputs.measurements is not None:
        named["measurements"] = inputs.measurements
    folders = {name: (workspace / value).resolve() for name, value in named.items()}
    for (one, first), (other, second) in combinations(folders.items(), 2):
        if first.is_relative_to(second) or second.is_relative_to(first):
            raise UsageError(
                f"The inputs {one} and {other} are {named[one]!r} and {named[other]!r}: neither may lie in the other.",
                "Give each a folder of its own.",
            )
