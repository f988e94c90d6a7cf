"""What an embedder is: text to vector, with an identity that says in which vector space."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

Kind = Literal["document", "query"]
"""Some models want another prompt before a text that is searched than before one that is stored."""

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Embedded:
    """``vectors``: one L2-normalised float32 row a text. ``tokens``: the length of each text in the model's own tokens
    before the input window cut it, prompt and special tokens included.
    """

    vectors: Vectors
    tokens: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Which vector space an embedder speaks. ``probe`` decides: the SHA-256 of the vectors of the probe texts.

    ``input_window`` and ``model_window``, the model's own limit, count tokens. ``sha256`` is the model file's, None
    where there is no file.
    """

    kind: Literal["llama.cpp", "toy"]
    key: str
    sha256: str | None
    dimension: int
    pooling: str
    normalisation: str
    document_prompt: str
    query_prompt: str
    input_window: int | None
    model_window: int | None
    build: str
    instruction_set: str
    probe: str

    def as_dict(self) -> dict[str, object]:
        """The fields by name, in the order above."""
        return asdict(self)


class Embedder(Protocol):
    """Text to vector. The same text gives the same bits, whatever else is asked before, beside or after it."""

    @property
    def identity(self) -> EmbedderIdentity:
        """Read from the live model, never from what was asked for."""
        ...

    def embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """One row a text, in order. Raises ModelError on a null, non-finite or wrong-width vector."""
        ...
