"""The name of an arm: its timeline, then each setting that differs from its default."""

import hashlib
import re
from collections.abc import Iterator, Mapping

from membench.corpora.corpus import Corpus, usual_text
from membench.embedding.catalog import DEFAULT_MODEL
from membench.embedding.choice import EmbedderChoice
from membench.embedding.embedder import EmbedderIdentity
from membench.memories.catalog import SETTINGS
from membench.memories.options import setting_text
from membench.memories.protocol import Description
from membench.reports.measurement import Measurement
from membench.ruler.arm import CHUNK_SIZE, CUT_OFFS, LIMIT, Arm

_DEFAULT_MEMORY = "episodic"
# A file name has room for 255 bytes: the corpus goes before an arm's name, and a suffix after it.
_LONGEST = 180


def stem_of(measurement: Measurement) -> str:
    """What the files of a measurement are called, before their endings: `locomo10.now` for instance."""
    return f"{measurement.corpus.key}.{measurement.arm.name}"


def arm_name(
    corpus: Corpus, arm: Arm, memory: Description, embedder: EmbedderIdentity | None, choice: EmbedderChoice
) -> str:
    """`anchored.score_decimals-none`, for instance: safe in a file name, and the same for the same arm.

    Where very many settings differ it is cut, and ends in a digest of the whole.
    """
    parts = [*_of_corpus(corpus), *_of_arm(arm), *_of_memory(memory, arm.memory_options)]
    if embedder is not None:
        parts += _of_embedder(embedder, choice)
    name = ".".join([arm.timeline, *(re.sub(r"[^A-Za-z0-9_-]+", "_", part) for part in parts)])
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 9]}.{_digest(name)}"


def _of_corpus(corpus: Corpus) -> Iterator[str]:
    reading, usual = corpus.reading, usual_text(corpus.format)
    if reading.part.instances is not None:
        yield f"instances-{reading.part.instances}"
    if reading.part.queries is not None:
        yield f"queries-{reading.part.queries}"
    if reading.gold != "verbatim":
        yield reading.gold
    if reading.roles != "all":
        yield f"roles-{reading.roles}"
    if corpus.text.captions != usual.captions:
        yield f"captions-{setting_text(corpus.text.captions)}"
    if corpus.text.speakers != usual.speakers:
        yield f"speakers-{setting_text(corpus.text.speakers)}"


def _of_arm(arm: Arm) -> Iterator[str]:
    if arm.pool != "own":
        yield f"pool-{arm.pool}"
    if arm.timeline == "literal" and arm.as_of is not None:
        yield f"{arm.as_of:%Y-%m-%dT%H%M%S}"
    if arm.granularity != "turn":
        yield arm.granularity
    if arm.granularity == "chunk" and arm.chunk_size != CHUNK_SIZE:
        yield f"size-{arm.chunk_size}"
    if arm.limit != LIMIT:
        yield f"limit-{arm.limit}"
    if arm.cut_offs != CUT_OFFS:
        yield "at-" + "-".join(map(str, arm.cut_offs))


def _of_memory(memory: Description, options: Mapping[str, str]) -> Iterator[str]:
    if memory.name != _DEFAULT_MEMORY:
        yield memory.name
    if memory.own:
        # Of its settings nobody here knows which are its defaults: what was asked for differs from them.
        yield from (f"{name}-{value}" for name, value in sorted(options.items()))
        return
    defaults: Mapping[str, object] = SETTINGS[memory.name]().model_dump() if memory.name in SETTINGS else {}
    if "backend" in defaults and memory.backend != defaults["backend"]:
        yield f"backend-{memory.backend}"
    for name, value in sorted(memory.settings.items()):
        if name not in defaults or value != defaults[name]:
            yield f"{name}-{setting_text(value)}"


def _of_embedder(embedder: EmbedderIdentity, choice: EmbedderChoice) -> Iterator[str]:
    if embedder.key != DEFAULT_MODEL:
        yield embedder.key
    if embedder.input_window != embedder.model_window:
        yield f"window-{embedder.input_window}"
    for name, value in choice.overrides().items():
        # A prompt is a sentence: too long for a file name, and its digest tells two apart.
        yield f"{name}-{value if name == 'pooling' else _digest(value)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
