"""Parses and validates JSON requests."""

import base64
import binascii
import secrets
from typing import Any

import numpy as np
import torch

from ..errors import bad_request
from ..model.adamw import AdamSettings
from ..model.datum import Datum, Floats, Integers, Loss
from ..model.lora import LoraSettings
from ..sampling.job import SampleRequest
from ..sampling.token_sampling import SamplingParams

MAX_SAMPLES = 4096


def number(given: Any, name: str, least: float, most: float = float("inf")) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not least <= given <= most:
        raise bad_request(f"{name} is {str(given)[:80]} but must be a number of at least {least}.")
    return float(given)


def integer(given: Any, name: str, least: int, most: int = 2**63) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        raise bad_request(f"{name} is {str(given)[:80]} but must be an integer of at least {least}.")
    return given


def text(given: Any, name: str) -> str:
    if not isinstance(given, str) or not given:
        raise bad_request(f"{name} must be a non-empty string.")
    return given


def mapping(given: Any, name: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise bad_request(f"{name} must be an object.")
    return given


def tokens_of(model_input: Any, name: str, vocabulary: int) -> Integers:
    chunks = mapping(model_input, name).get("chunks")
    if not isinstance(chunks, list):
        raise bad_request(f"{name} must have a list of chunks.")
    parts: list[Integers] = []
    for chunk in chunks:
        kind = mapping(chunk, f"a chunk of {name}").get("type", "encoded_text")
        if kind != "encoded_text":
            raise bad_request(f"{name} has a chunk of type {kind}; this server accepts only encoded_text.")
        parts.append(_integers(chunk.get("tokens"), name))
    tokens = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    return _within(tokens, name, vocabulary)


def _integers(given: Any, name: str) -> Integers:
    if not isinstance(given, list | np.ndarray):
        raise bad_request(f"{name} must be a list of tokens.")
    try:
        array = np.asarray(given)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iuf"):
            raise ValueError
        integers = array.astype(np.int64)
    except (ValueError, TypeError, OverflowError):
        raise bad_request(f"{name} must be a flat list of integers.") from None
    if array.size and array.dtype.kind == "f" and not bool((integers == array).all()):
        raise bad_request(f"{name} must be a flat list of integers.")
    return integers


def _floats(given: Any, name: str) -> Floats:
    if not isinstance(given, list | np.ndarray):
        raise bad_request(f"{name} must be a list of numbers.")
    try:
        # null encodes a non-finite float.
        array = np.asarray(given, dtype=np.float32)
    except (ValueError, TypeError):
        raise bad_request(f"{name} must be a flat list of numbers.") from None
    if array.ndim != 1:
        raise bad_request(f"{name} must be a flat list of numbers.")
    return array


def _within(tokens: Integers, name: str, vocabulary: int) -> Integers:
    if tokens.size and (tokens.min() < 0 or tokens.max() >= vocabulary):
        raise bad_request(f"{name} has a token outside the vocabulary of {vocabulary} tokens.")
    return tokens


def pass_input(given: Any, vocabulary: int, context: int) -> tuple[list[Datum], Loss]:
    fields = mapping(given, "forward_backward_input")
    items = fields.get("data")
    if not isinstance(items, list) or not items:
        raise bad_request("data must be a list with at least one datum.")
    data = [_datum(item, position, vocabulary, context) for position, item in enumerate(items)]
    return data, loss(fields)


def loss(fields: dict[str, Any]) -> Loss:
    config = mapping(fields.get("loss_fn_config") or {}, "loss_fn_config")
    settings = {name: number(value, name, 0) for name, value in config.items()}
    return Loss(text(fields.get("loss_fn", "cross_entropy"), "loss_fn"), settings)


def _datum(given: Any, position: int, vocabulary: int, context: int) -> Datum:
    name = f"datum {position}"
    fields = mapping(given, name)
    tokens = tokens_of(fields.get("model_input"), f"model_input of {name}", vocabulary)
    if not 1 <= len(tokens) <= context:
        raise bad_request(f"{name} has {len(tokens)} tokens but must have 1 to {context}.")
    tensors = mapping(fields.get("loss_fn_inputs"), f"loss_fn_inputs of {name}")
    if "target_tokens" not in tensors:
        raise bad_request(f"loss_fn_inputs of {name} lacks target_tokens.")
    targets = _within(
        _integers(_flat(tensors["target_tokens"]), f"target_tokens of {name}"),
        f"target_tokens of {name}",
        vocabulary,
    )
    inputs = {
        key: _floats(_flat(value), f"{key} of {name}") for key, value in tensors.items() if key != "target_tokens"
    }
    lengths = {"target_tokens": len(targets), **{key: len(values) for key, values in inputs.items()}}
    for key, length in lengths.items():
        if length != len(tokens):
            raise bad_request(f"{key} of {name} has {length} entries for {len(tokens)} tokens.")
    return Datum(tokens, targets, inputs)


def _flat(tensor: Any) -> Any:
    if isinstance(tensor, dict):
        if tensor.get("sparse_crow_indices") is not None:
            raise bad_request("Sparse tensors are not supported; send dense ones.")
        return tensor.get("data")
    return tensor


def adam_settings(given: Any) -> AdamSettings:
    fields = mapping(given or {}, "adam_params")
    default = AdamSettings()
    kind = fields.get("type", "adam")
    if kind not in ("adam", "adamw", "adam_params"):
        raise bad_request(f"Unknown optimizer {kind}; use AdamW.")
    eps = number(fields.get("eps", default.eps), "eps", 0)
    if eps == 0:
        raise bad_request("eps is 0 but must be positive.")
    return AdamSettings(
        learning_rate=number(fields.get("learning_rate", default.learning_rate), "learning_rate", 0, 1e6),
        beta1=number(fields.get("beta1", default.beta1), "beta1", 0, 0.9999999),
        beta2=number(fields.get("beta2", default.beta2), "beta2", 0, 0.9999999),
        eps=eps,
        weight_decay=number(fields.get("weight_decay") or 0.0, "weight_decay", 0),
        grad_clip_norm=number(fields.get("grad_clip_norm") or 0.0, "grad_clip_norm", 0),
    )


def lora_settings(given: Any) -> LoraSettings | None:
    """None (rank 0) means a full fine-tune."""
    fields = mapping(given or {}, "lora_config")
    rank = integer(fields.get("rank", 32), "lora_config.rank", 0, 4096)
    if rank == 0:
        return None
    return LoraSettings(
        rank=rank,
        alpha=number(fields.get("alpha", 32.0), "lora_config.alpha", 0),
        seed=integer(fields.get("seed") or 0, "lora_config.seed", -(2**63)) % 2**63,
        attention=bool(fields.get("train_attn", True)),
        feed_forward=bool(fields.get("train_mlp", True)),
        unembedding=bool(fields.get("train_unembed", False)),
    )


def sample_request(body: dict[str, Any], vocabulary: int, context: int) -> SampleRequest:
    prompt = tokens_of(body.get("prompt"), "prompt", vocabulary).tolist()
    params = mapping(body.get("sampling_params") or {}, "sampling_params")
    texts, stop_tokens = _stops(params)
    given_most = params.get("max_tokens")
    most = context if given_most is None else integer(given_most, "max_tokens", 1)
    allowed = _mask(params.get("allowed_tokens"), vocabulary, most)
    seed = params.get("seed")
    return SampleRequest(
        prompt=prompt,
        max_tokens=most,
        params=SamplingParams(
            temperature=number(_or(params, "temperature", 1.0), "temperature", 0),
            top_k=max(0, integer(_or(params, "top_k", 0), "top_k", -1)),
            top_p=number(_or(params, "top_p", 1.0), "top_p", 0, 1),
            allowed=allowed,
        ),
        count=integer(_or(body, "num_samples", 1), "num_samples", 1, MAX_SAMPLES),
        seed=secrets.randbits(48) if seed is None else integer(seed, "seed", -(2**63)),
        first_step=integer(_or(params, "first_step", 0), "first_step", 0),
        stop_tokens=tuple(stop_tokens),
        stop_texts=tuple(texts),
    )


def _or(fields: dict[str, Any], name: str, default: Any) -> Any:
    value = fields.get(name)
    return default if value is None else value


def _stops(params: dict[str, Any]) -> tuple[list[str], list[int]]:
    stop = params.get("stop") or []
    if isinstance(stop, str):
        stop = [stop]
    tokens = params.get("stop_tokens") or []
    if not isinstance(stop, list) or not isinstance(tokens, list):
        raise bad_request("stop must be a list of strings or token ids, and stop_tokens a list of token ids.")
    texts = [item for item in stop if isinstance(item, str) and item]
    numbers = [item for item in [*stop, *tokens] if isinstance(item, int) and not isinstance(item, bool)]
    if len(texts) + len(numbers) != len(stop) + len(tokens):
        raise bad_request("stop must be a list of non-empty strings or token ids, and stop_tokens a list of token ids.")
    return texts, numbers


def _mask(given: Any, vocabulary: int, most: int) -> torch.Tensor | None:
    if given is None:
        return None
    if most != 1:
        raise bad_request("allowed_tokens constrains only the next token, so it requires max_tokens 1.")
    if isinstance(given, np.ndarray):
        packed = given
    else:
        try:
            packed = np.frombuffer(base64.b64decode(text(given, "allowed_tokens"), validate=True), dtype=np.uint8)
        except (binascii.Error, ValueError):
            raise bad_request("allowed_tokens is not valid base64.") from None
    if len(packed) != (vocabulary + 7) // 8:
        raise bad_request(
            f"allowed_tokens has {len(packed)} bytes but must have {(vocabulary + 7) // 8}, one bit per token."
        )
    bits = np.unpackbits(packed, bitorder="little")
    return torch.from_numpy(bits[:vocabulary].astype(bool))
