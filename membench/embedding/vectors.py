"""Checks and arithmetic on raw model output that must give the same bits on every machine."""

import math

import numpy as np
import numpy.typing as npt

from membench.embedding.embedder import Vectors
from membench.errors import ModelError


def unit_vector(raw: npt.NDArray[np.float32], dimension: int, text: str) -> Vectors:
    """``raw`` divided by its L2 norm, as float32.

    The norm is an exactly rounded float64 sum: numpy's own sums depend on the instruction set of the machine.
    Raises ModelError, naming ``text``, for a vector of another width, with a non-finite component, or all zero.
    """
    if raw.shape != (dimension,):
        raise _unusable(text, f"expected {dimension} components, found shape {raw.shape}")
    wide = raw.astype(np.float64)
    norm = math.sqrt(math.fsum((wide * wide).tolist()))
    if not math.isfinite(norm):
        raise _unusable(text, "a component is not finite")
    if norm == 0.0:
        raise _unusable(text, "every component is zero")
    return (wide / norm).astype(np.float32)


def _unusable(text: str, problem: str) -> ModelError:
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    return ModelError(
        f"the model gave an unusable vector for {shown!r}: {problem}",
        "Use another model file: a semantic figure cannot be had from this one.",
    )
