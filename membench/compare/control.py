"""The command that measures an arm again with another input window, as far as its measurement tells."""

import shlex
from collections.abc import Iterator, Mapping
from typing import get_args

from membench.corpora.catalog import CORPORA
from membench.corpora.corpus import FORMATS, usual_text
from membench.embedding.catalog import DEFAULT_MODEL, MODELS, Pooling
from membench.memories.catalog import SETTINGS
from membench.memories.options import setting_text
from membench.reports.comparison import Control, SideName
from membench.reports.measurement import Embedder, Measurement
from membench.ruler.arm import CHUNK_SIZE, CUT_OFFS, LIMIT

_DEFAULT_MEMORY = "episodic"


def control_of(side: SideName, measurement: Measurement, window: int) -> Control:
    """`membench retrieval` with every setting of ``measurement`` that is not a default, and ``window`` tokens of each
    text, quoted for a POSIX shell. What no measurement records stands in it in angle brackets, and in ``missing``.
    """
    words: list[str] = ["membench", "retrieval"]
    missing: list[str] = []
    for part, lacking in (_corpus(measurement), _memory(measurement), _model(measurement.embedder)):
        words += part
        missing += lacking
    words += [*_arm(measurement), "--input-window", str(window)]
    return Control(side=side, input_window=window, command=shlex.join(words), missing=missing)


_Told = tuple[list[str], list[str]]


def _corpus(measurement: Measurement) -> _Told:
    corpus, arm = measurement.corpus, measurement.arm
    words, missing = [corpus.key], list[str]()
    if corpus.key in CORPORA:
        usual = usual_text(CORPORA[corpus.key].format)
        captions, speakers = arm.captions != usual.captions, arm.speakers != usual.speakers
    else:
        # What a file's turns are usually written with depends on its format, so both are said.
        captions = speakers = True
        # LoCoMo's evidence alone can be read in another way.
        form = "locomo" if corpus.gold == "repaired" else f"<{' or '.join(FORMATS)}>"
        words = [f"<file of {corpus.key}>", "--format", form]
        missing = [f"the file of the corpus {corpus.key}" + " and its format" * (corpus.gold != "repaired")]
    words += [f"--{'' if arm.captions else 'no-'}captions"] * captions
    words += [f"--{'' if arm.speakers else 'no-'}speakers"] * speakers
    words += _options({"gold": (corpus.gold, "verbatim"), "roles": (arm.roles, "all")})
    words += _options({"instances": (corpus.slice.instances, None), "queries": (corpus.slice.queries, None)})
    return words, missing


def _arm(measurement: Measurement) -> Iterator[str]:
    arm = measurement.arm
    yield from _options({"timeline": (arm.timeline, "now"), "as-of": (arm.as_of, None)})
    yield from _options({"granularity": (arm.granularity, "turn")})
    if arm.chunk_size is not None:
        yield from _options({"chunk-size": (arm.chunk_size, CHUNK_SIZE)})
    yield from _options({"pool": (arm.pool, "own"), "limit": (arm.limit, LIMIT)})
    if arm.cut_offs != list(CUT_OFFS):
        for k in arm.cut_offs:
            yield from ("--cut-off", str(k))


def _memory(measurement: Measurement) -> _Told:
    memory = measurement.memory
    if memory.name not in SETTINGS:
        how = f"how the memory {memory.name} was named, with its options and its interpreter"
        return ["--memory", f"<specification of {memory.name}>"], [how]
    defaults = SETTINGS[memory.name]().model_dump()
    asked = dict(memory.options) | ({"backend": memory.backend} if "backend" in defaults else {})
    words = [] if memory.name == _DEFAULT_MEMORY else ["--memory", memory.name]
    for name, value in sorted(asked.items()):
        if name not in defaults or value != defaults[name]:
            words += ["--memory-option", f"{name}={setting_text(value)}"]
    return words, []


def _model(embedder: Embedder | None) -> _Told:
    if embedder is None:
        return [], []
    pin = MODELS.get(embedder.key)
    if pin is not None and embedder.sha256 == pin.sha256:
        return _options(
            {
                "model": (embedder.key, DEFAULT_MODEL),
                "pooling": (embedder.pooling, pin.pooling),
                "document-prompt": (embedder.document_prompt, pin.document_prompt),
                "query-prompt": (embedder.query_prompt, pin.query_prompt),
            }
        ), []
    # Of a file nobody here knows its own pooling: named, it is the one that was measured.
    words = ["--model", f"<file of {embedder.key}>"]
    words += ["--pooling", embedder.pooling] if embedder.pooling in get_args(Pooling) else []
    words += _options({"document-prompt": (embedder.document_prompt, ""), "query-prompt": (embedder.query_prompt, "")})
    return words, [f"the file of the model {embedder.key}"]


def _options(found: Mapping[str, tuple[object, object]]) -> list[str]:
    """The options whose value, the first of the two, is not the default."""
    return [word for name, (value, usual) in found.items() if value != usual for word in (f"--{name}", str(value))]
