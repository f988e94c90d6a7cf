"""The memories that ship with membench, by name."""

import difflib
from collections.abc import Mapping

from membench.embedding.embedder import Embedder
from membench.errors import UsageError
from membench.memories.episodic.memory import EpisodicMemory
from membench.memories.episodic.options import EpisodicSettings
from membench.memories.lexical import LexicalMemory, LexicalSettings
from membench.memories.options import Settings, parse_settings
from membench.memories.protocol import Memory

SETTINGS: Mapping[str, type[Settings]] = {"episodic": EpisodicSettings, "bm25": LexicalSettings}
EMBEDDING_MEMORIES = frozenset({"episodic"})
"""Those that want an embedder of the run."""


def build_memory(name: str, options: Mapping[str, str], embedder: Embedder | None) -> Memory:
    """The memory of that name. Raises UsageError for an unknown name, option or value."""
    settings = settings_of(name, options)
    if isinstance(settings, EpisodicSettings):
        return EpisodicMemory(settings, embedder)
    assert isinstance(settings, LexicalSettings)  # noqa: S101
    return LexicalMemory(settings)


def settings_of(name: str, options: Mapping[str, str]) -> Settings:
    """The checked settings of the memory of that name. Raises UsageError for an unknown name, option or value."""
    if name not in SETTINGS:
        near = difflib.get_close_matches(name, SETTINGS, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(f"There is no memory {name!r}.{hint}", f"Known: {', '.join(SETTINGS)}.")
    return parse_settings(SETTINGS[name], options, name)
