"""From what was asked for to a live embedder."""

from dataclasses import dataclass
from pathlib import Path

from membench.embedding.catalog import DEFAULT_MODEL, MODELS, Pooling, find_model
from membench.embedding.llama import LlamaEmbedder
from membench.embedding.store import local_model, verified_model
from membench.errors import UsageError

FULL = "full"
"""The input window that is the model's own limit."""


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """``model`` is a catalog key or the path of a GGUF; what is None is as the catalog or the model file has it."""

    model: str = DEFAULT_MODEL
    pooling: Pooling | None = None
    document_prompt: str | None = None
    query_prompt: str | None = None
    input_window: int | None = None

    def overrides(self) -> dict[str, str]:
        """What was asked for and differs from the catalog's entry, by name; the input window is not among them."""
        pin = MODELS.get(self.model)
        usual = {
            "pooling": pin.pooling if pin else None,
            "document_prompt": pin.document_prompt if pin else "",
            "query_prompt": pin.query_prompt if pin else "",
        }
        asked = {"pooling": self.pooling, "document_prompt": self.document_prompt, "query_prompt": self.query_prompt}
        return {name: value for name, value in asked.items() if value is not None and value != usual[name]}


def input_window_of(text: str) -> int | None:
    """The tokens that ``text`` asks for, None for `full`. Raises UsageError for anything else."""
    if text == FULL:
        return None
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise UsageError(
            f"--input-window {text}: expected a number of tokens, or {FULL} for as many as the model takes."
        )
    return int(text)


def load_embedder(choice: EmbedderChoice, root: Path, workers: int) -> LlamaEmbedder:
    """The verified model of ``choice``, loaded.

    Raises UsageError for an unknown key, ModelError for a model that cannot be used.
    """
    if choice.model not in MODELS and (choice.model.endswith(".gguf") or Path(choice.model).exists()):
        path, sha256 = local_model(Path(choice.model))
        return LlamaEmbedder(
            path,
            key=path.stem,
            sha256=sha256,
            workers=workers,
            pooling=choice.pooling,
            document_prompt=choice.document_prompt or "",
            query_prompt=choice.query_prompt or "",
            input_window=choice.input_window,
        )
    pin = find_model(choice.model)
    return LlamaEmbedder(
        verified_model(pin, root),
        key=pin.key,
        sha256=pin.sha256,
        workers=workers,
        pooling=choice.pooling or pin.pooling,
        document_prompt=pin.document_prompt if choice.document_prompt is None else choice.document_prompt,
        query_prompt=pin.query_prompt if choice.query_prompt is None else choice.query_prompt,
        input_window=choice.input_window,
    )
