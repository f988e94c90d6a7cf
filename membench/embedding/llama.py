"""The llama.cpp embedder: one loaded model, a pool of one-thread contexts, one text a decode call.

Several texts in one decode change the numbers and are slower, and a context of two threads is no faster than two of
one, so each text is decoded alone and the contexts work side by side.
"""

import ctypes
import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import llama_cpp
import numpy as np

from membench.embedding import llama_log
from membench.embedding.embedder import Embedded, EmbedderIdentity, Kind, Vectors
from membench.embedding.probe import PROBE_TEXTS, probe_digest
from membench.embedding.vectors import unit_vector
from membench.errors import ModelError, UsageError

POOLINGS = {
    "mean": llama_cpp.LLAMA_POOLING_TYPE_MEAN,
    "cls": llama_cpp.LLAMA_POOLING_TYPE_CLS,
    "last": llama_cpp.LLAMA_POOLING_TYPE_LAST,
}
_SMALLEST_CONTEXT = 512
_TOKEN_BYTES = ctypes.sizeof(llama_cpp.llama_token)


class LlamaEmbedder:
    """An `Embedder` over one GGUF file. Close it, or use it as a context manager: it holds native memory."""

    def __init__(
        self,
        path: Path,
        *,
        key: str,
        sha256: str,
        workers: int,
        pooling: str | None = None,
        document_prompt: str = "",
        query_prompt: str = "",
        input_window: int | None = None,
    ) -> None:
        """``pooling`` and ``input_window`` default to the model's own. Raises ModelError where it does not load,
        UsageError for a window that the model does not have.
        """
        self._model = _load(path)
        self._contexts: queue.SimpleQueue[_Context] = queue.SimpleQueue()
        self._prompts: dict[Kind, str] = {"document": document_prompt, "query": query_prompt}
        self._vocabulary = llama_cpp.llama_model_get_vocab(self._model)
        self._dimension = llama_cpp.llama_model_n_embd(self._model)
        self._window = _window(self._model, input_window)
        self._workers = workers
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix="embed")
        wanted = llama_cpp.LLAMA_POOLING_TYPE_UNSPECIFIED if pooling is None else POOLINGS[pooling]
        self._context_size = 0
        self._pooling = wanted
        self._grow(_SMALLEST_CONTEXT)
        self._identity = EmbedderIdentity(
            kind="llama.cpp",
            key=key,
            sha256=sha256,
            dimension=self._dimension,
            pooling=self._live_pooling(),
            normalisation="l2",
            document_prompt=document_prompt,
            query_prompt=query_prompt,
            input_window=self._window,
            model_window=_limit(self._model),
            build=f"llama-cpp-python {llama_cpp.__version__}",
            instruction_set=instruction_set(),
            probe=self._probe(),
        )

    @property
    def identity(self) -> EmbedderIdentity:
        """As read from the loaded model."""
        return self._identity

    @property
    def workers(self) -> int:
        """How many texts are embedded at a time."""
        return self._workers

    def tokens(self, text: str, kind: Kind = "document") -> list[int]:
        """The token ids of ``text`` with its prompt and the model's special tokens, not cut."""
        return _tokenize(self._vocabulary, self._prompts[kind] + text)

    def embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """One row a text, in order, each text cut to the input window.

        Raises ModelError on a decode that fails and on a null, non-finite or wrong-width vector.
        """
        tokens = [self.tokens(text, kind) for text in texts]
        self._grow(min(self._window, max((len(ids) for ids in tokens), default=0)))
        vectors = np.empty((len(texts), self._dimension), dtype=np.float32)
        # The longest first, so that no worker is left with one when the others have run out of work.
        rows = sorted(range(len(texts)), key=lambda row: -len(tokens[row]))
        futures = {row: self._executor.submit(self._vector, texts[row], self._cut(tokens[row])) for row in rows}
        try:
            for row, future in futures.items():
                vectors[row] = future.result()
        finally:
            for future in futures.values():
                future.cancel()
        return Embedded(vectors, np.array([len(ids) for ids in tokens], dtype=np.int64))

    def close(self) -> None:
        """Frees the contexts and the model."""
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._release_contexts()
        if self._model is not None:
            llama_cpp.llama_model_free(self._model)
            self._model = None

    def __enter__(self) -> "LlamaEmbedder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _probe(self) -> str:
        documents = self.embed(PROBE_TEXTS, "document").vectors
        same = self._prompts["document"] == self._prompts["query"]
        return probe_digest(documents, documents if same else self.embed(PROBE_TEXTS, "query").vectors)

    def _cut(self, tokens: list[int]) -> list[int]:
        """At most the input window, the closing special token (BERT's [SEP], an end of text) kept in its place."""
        if len(tokens) <= self._window:
            return tokens
        closing = tokens[-1:] if llama_cpp.llama_vocab_is_control(self._vocabulary, tokens[-1]) else []
        return tokens[: self._window - len(closing)] + closing

    def _vector(self, text: str, tokens: list[int]) -> Vectors:
        with self._borrowed() as context:
            return unit_vector(context.pooled(tokens, text), self._dimension, text)

    @contextmanager
    def _borrowed(self) -> Iterator["_Context"]:
        context = self._contexts.get()
        try:
            yield context
        finally:
            self._contexts.put(context)

    def _grow(self, tokens: int) -> None:
        """Contexts that take ``tokens``. Their memory grows with their size, so they are as large as the longest text
        so far, in powers of two, not as large as the model allows.
        """
        if tokens <= self._context_size:
            return
        size = _SMALLEST_CONTEXT
        while size < tokens:
            size *= 2
        self._release_contexts()
        for _ in range(self._workers):
            self._contexts.put(_Context(self._model, size, self._pooling, self._dimension))
        self._context_size = size

    def _release_contexts(self) -> None:
        while not self._contexts.empty():
            self._contexts.get().close()

    def _live_pooling(self) -> str:
        with self._borrowed() as context:
            live = context.pooling()
        for name, value in POOLINGS.items():
            if value == live:
                return name
        raise ModelError(
            f"the model's pooling is of llama.cpp's type {live}, which gives no vector for a whole text",
            f"Name one with --pooling: {', '.join(POOLINGS)}.",
        )


class _Context:
    """One llama.cpp context of one thread."""

    def __init__(self, model: object, size: int, pooling: int, dimension: int) -> None:
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = size
        params.n_seq_max = 1
        params.n_threads = params.n_threads_batch = 1
        params.embeddings = True
        params.pooling_type = pooling
        # Flash attention rounds keys and values to 16 bits. Left to llama.cpp, its use depends on release and device.
        params.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.no_perf = True
        self._dimension = dimension
        self._context = llama_cpp.llama_init_from_model(model, params)
        if not self._context:
            raise ModelError(f"llama.cpp made no context of {size} tokens: {llama_log.last()}", "Use fewer --workers.")
        self._batch = _batch(size)

    def pooling(self) -> int:
        return int(llama_cpp.llama_pooling_type(self._context))

    def pooled(self, tokens: list[int], text: str) -> Vectors:
        """The raw pooled output, float32, of one text."""
        memory = llama_cpp.llama_get_memory(self._context)
        if memory:
            llama_cpp.llama_memory_clear(memory, True)
        ctypes.memmove(self._batch.token, (llama_cpp.llama_token * len(tokens))(*tokens), len(tokens) * _TOKEN_BYTES)
        self._batch.n_tokens = len(tokens)
        status = llama_cpp.llama_decode(self._context, self._batch)
        output = llama_cpp.llama_get_embeddings_seq(self._context, 0) if status == 0 else None
        if not output:
            problem = f"status {status}" if status else "no vector"
            raise ModelError(
                f"llama.cpp gave {problem} for a text of {len(tokens)} tokens ({text[:60]!r}): {llama_log.last()}",
                "Use another model file, or a smaller --input-window.",
            )
        return np.ctypeslib.as_array(output, shape=(self._dimension,)).copy()

    def close(self) -> None:
        llama_cpp.llama_batch_free(self._batch)
        llama_cpp.llama_free(self._context)


def _batch(size: int) -> llama_cpp.llama_batch:
    """A batch for one sequence of up to ``size`` tokens, every token marked as an output: only the ids vary by text."""
    batch = llama_cpp.llama_batch_init(size, 0, 1)
    for position in range(size):
        batch.pos[position] = position
        batch.n_seq_id[position] = 1
        batch.seq_id[position][0] = 0
        batch.logits[position] = True
    return batch


def instruction_set() -> str:
    """The processor features that the llama.cpp library was compiled for, as it reports them."""
    report = llama_cpp.llama_print_system_info().decode()
    cpu = report.split("CPU :", 1)[-1]
    return " ".join(sorted(item.split("=")[0].strip() for item in cpu.split("|") if item.strip().endswith("= 1")))


def _load(path: Path) -> object:
    llama_log.capture()
    llama_cpp.llama_backend_init()
    params = llama_cpp.llama_model_default_params()
    params.n_gpu_layers = 0
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
    if not model:
        raise ModelError(
            f"{path}: llama.cpp cannot load it: {llama_log.last()}", "Fetch the model again, or use another file."
        )
    return model


def _limit(model: object) -> int:
    return int(llama_cpp.llama_model_n_ctx_train(model))


def _window(model: object, wanted: int | None) -> int:
    limit = _limit(model)
    if wanted is None:
        return limit
    if not 4 <= wanted <= limit:
        raise UsageError(f"--input-window {wanted}: this model takes from 4 to {limit} tokens.")
    return wanted


def _tokenize(vocabulary: object, text: str) -> list[int]:
    raw = text.encode("utf-8", errors="replace")
    # A token covers at least a byte, save the special ones at the ends.
    size = len(raw) + 8
    buffer = (llama_cpp.llama_token * size)()
    count = llama_cpp.llama_tokenize(vocabulary, raw, len(raw), buffer, size, True, False)
    if count < 0:
        raise ModelError(f"llama.cpp cannot tokenize a text of {len(raw)} bytes ({text[:60]!r}).")
    return list(ctypes.cast(buffer, ctypes.POINTER(llama_cpp.llama_token * count)).contents)
