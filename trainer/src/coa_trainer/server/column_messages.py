"""Passes and samples as column messages.

In a pass, entry i of every column belongs to predicting token i; the first entry of each example is unused.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import bad_request
from ..model.datum import Datum, Loss, PassResult
from . import parse
from .columns import Message, encode


def pass_input(message: Message, vocabulary: int, context: int) -> tuple[list[Datum], Loss]:
    lengths = message.column("lengths", "int32")
    tokens = message.column("tokens", "int32")
    if not len(lengths):
        raise bad_request("lengths must have at least one entry.")
    # The last token of an example is only a target.
    odd = np.flatnonzero((lengths < 2) | (lengths > context + 1))
    if len(odd):
        raise bad_request(f"datum {odd[0]} has {lengths[odd[0]]} tokens but must have 2 to {context + 1}.")
    ends = np.cumsum(lengths, dtype=np.int64)
    if ends[-1] != len(tokens):
        raise bad_request(f"The lengths add up to {ends[-1]}, but there are {len(tokens)} tokens.")
    if tokens.min() < 0 or tokens.max() >= vocabulary:
        raise bad_request(f"tokens has a token outside the vocabulary of {vocabulary} tokens.")
    given = {name: message.column(name, "float32") for name in message.columns if name not in ("lengths", "tokens")}
    for name, column in given.items():
        if len(column) != len(tokens):
            raise bad_request(f"{name} has {len(column)} entries for {len(tokens)} tokens.")
    whole = tokens.astype(np.int64)
    data = [
        Datum(
            whole[end - length : end - 1],
            whole[end - length + 1 : end],
            {name: column[end - length + 1 : end] for name, column in given.items()},
        )
        for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
    ]
    return data, parse.loss(message.header)


def pass_result(result: PassResult) -> bytes:
    unused = np.zeros(1, dtype=np.float32)
    parts = [part for logprobs in result.logprobs for part in (unused, logprobs)]
    loss = result.loss if np.isfinite(result.loss) else None
    return encode({"metrics": {"loss:sum": loss}}, {"logprobs": ("float32", parts)})


def sample_body(message: Message) -> dict[str, Any]:
    """The JSON body of the request, with arrays in place of lists."""
    body = dict(message.header)
    if body.get("prompt_logprobs") or body.get("topk_prompt_logprobs"):
        raise bad_request("Log-probabilities of the prompt are available in JSON only.")
    prompt = message.column("prompt", "int32")
    body["prompt"] = {"chunks": [{"type": "encoded_text", "tokens": prompt}]}
    if "allowed_tokens" in message.columns:
        params = parse.mapping(body.get("sampling_params") or {}, "sampling_params")
        body["sampling_params"] = {**params, "allowed_tokens": message.column("allowed_tokens", "uint8")}
    return body


def sample_result(result: Mapping[str, Any]) -> bytes:
    sequences = result["sequences"]
    header = {"sequences": [{name: each[name] for name in ("stopped", "reused", "versions")} for each in sequences]}
    return encode(
        header,
        {
            "lengths": ("int32", [[len(each["tokens"]) for each in sequences]]),
            "tokens": ("int32", [each["tokens"] for each in sequences]),
            "logprobs": ("float32", [each["logprobs"] for each in sequences]),
            "model_logprobs": ("float32", [each["model_logprobs"] for each in sequences]),
        },
    )


def stream_line(line: Mapping[str, Any]) -> bytes:
    """A line of a stream: tokens, an error, or the result."""
    if "result" in line:
        return sample_result(line["result"])
    if "token" in line:
        return encode({"sequence": line["sequence"]}, {"tokens": ("int32", [[line["token"]]])})
    return encode(line, {})
