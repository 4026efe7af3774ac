"""Protobuf messages of newer clients, converted to and from their JSON equivalents."""

import math
from typing import Any

import numpy as np

from ..errors import bad_request
from . import wire

CONTENT_TYPE = "application/x-protobuf"

_FLOAT32, _INT64, _INT32, _BFLOAT16 = 1, 2, 3, 4
_TYPES: dict[int, str] = {_FLOAT32: "<f4", _INT64: "<i8", _INT32: "<i4", _BFLOAT16: "<u2"}


def read_header(data: bytes) -> tuple[str, int, bool]:
    """Model, sequence number and whether it is a forward-only request, without parsing the rest."""
    model, sequence, only = "", 0, False
    for number, _, value in wire.fields(data):
        if number == 1:
            model = wire.as_text(value)
        elif number == 2:
            sequence = wire.signed(value)
        elif number == 6:
            only = value != 0
    return model, sequence, only


def decode_pass_request(data: bytes) -> dict[str, Any]:
    """Converts a ForwardBackwardRequest to the JSON body, with arrays in place of lists."""
    model, sequence, _ = read_header(data)
    items: list[dict[str, Any]] = []
    config: dict[str, Any] = {}
    loss = "cross_entropy"
    for number, _, value in wire.fields(data):
        if number == 3:
            items.append(_datum(wire.as_bytes(value)))
        elif number == 4:
            loss = wire.as_text(value)
        elif number == 5:
            key, found = wire.entry(wire.as_bytes(value))
            config[key] = wire.as_double(found or bytes(8))
        elif number == 7:
            key, found = wire.entry(wire.as_bytes(value))
            config[key] = _config_value(key, wire.as_bytes(found))
    content = {"data": items, "loss_fn": loss, "loss_fn_config": config}
    return {"model_id": model, "seq_id": sequence, "forward_backward_input": content}


def _config_value(key: str, data: bytes) -> float:
    value = 0.0
    for number, _, found in wire.fields(data):
        if number != 1:
            raise bad_request(f"The loss setting {key} must be a number.")
        value = wire.as_double(found)
    return value


def _datum(data: bytes) -> dict[str, Any]:
    chunks: list[dict[str, Any]] = []
    inputs: dict[str, Any] = {}
    for number, _, value in wire.fields(data):
        if number == 1:
            chunks.append(_chunk(wire.as_bytes(value)))
        elif number == 2:
            key, found = wire.entry(wire.as_bytes(value))
            inputs[key] = {"data": _tensor(wire.as_bytes(found))}
    return {"model_input": {"chunks": chunks}, "loss_fn_inputs": inputs}


def _chunk(data: bytes) -> dict[str, Any]:
    for number, _, value in wire.fields(data):
        if number != 1:
            return {"type": "image or sound"}
        for inner, _, tokens in wire.fields(wire.as_bytes(value)):
            if inner == 1:
                return {"type": "encoded_text", "tokens": _array(wire.as_bytes(tokens), _INT32)}
    return {"type": "encoded_text", "tokens": np.zeros(0, dtype=np.int64)}


def _array(data: bytes, kind: int) -> np.ndarray[Any, Any]:
    if kind not in _TYPES or len(data) % np.dtype(_TYPES[kind]).itemsize:
        raise bad_request("A tensor in the body has an invalid type or length.")
    array = np.frombuffer(data, dtype=_TYPES[kind])
    if kind == _BFLOAT16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def _tensor(data: bytes) -> np.ndarray[Any, Any]:
    dense, kind = b"", _FLOAT32
    for number, _, value in wire.fields(data):
        if number == 1:
            dense = wire.as_bytes(value)
        elif number == 2:
            raise bad_request("Sparse tensors are not supported; send dense ones.")
        elif number == 3 and isinstance(value, int):
            kind = value
    return _array(dense, kind)


def encode_result(result: dict[str, Any]) -> bytes | None:
    """Encodes results that newer clients accept only as protobuf; None for all others."""
    if "sequences" in result:
        return _sample_response(result)
    if "loss_fn_outputs" in result:
        return _pass_output(result)
    return None


def _floats(values: list[float | None]) -> bytes:
    return np.array([math.nan if value is None else value for value in values], dtype="<f4").tobytes()


def _sample_response(result: dict[str, Any]) -> bytes:
    parts: list[bytes] = []
    for sequence in result["sequences"]:
        stop = 1 if sequence["stop_reason"] == "length" else 0
        message = wire.put_varint(1, stop)
        message += wire.put_bytes(2, np.array(sequence["tokens"], dtype="<i4").tobytes())
        message += wire.put_bytes(3, _floats(sequence["logprobs"]))
        parts.append(wire.put_bytes(1, message))
    if result.get("prompt_logprobs") is not None:
        parts.append(wire.put_bytes(2, _floats(result["prompt_logprobs"])))
    if result.get("topk_prompt_logprobs") is not None:
        parts.append(wire.put_bytes(3, _topk(result["topk_prompt_logprobs"])))
    hits = min((sequence["reused"] for sequence in result["sequences"]), default=0)
    parts.append(wire.put_varint(4, hits))
    return b"".join(parts)


def _topk(rows: list[list[tuple[int, float]] | None]) -> bytes:
    width = max((len(row) for row in rows if row), default=0)
    ids = np.zeros((len(rows), width), dtype="<i4")
    logprobs = np.full((len(rows), width), -99999.0, dtype="<f4")
    for number, row in enumerate(rows):
        for rank, (token, logprob) in enumerate(row or []):
            ids[number, rank], logprobs[number, rank] = token, logprob
    return (
        wire.put_bytes(1, ids.tobytes())
        + wire.put_bytes(2, logprobs.tobytes())
        + wire.put_varint(3, width)
        + wire.put_varint(4, len(rows))
    )


def _pass_output(result: dict[str, Any]) -> bytes:
    outputs = result["loss_fn_outputs"]
    record = wire.put_text(1, result["loss_fn_output_type"])
    for name in ("logprobs", "elementwise_loss"):
        arrays = [_floats(output[name]["data"]) for output in outputs]
        offsets = np.cumsum([0, *(len(array) for array in arrays)]).astype("<i8")
        tensor = wire.put_bytes(1, b"".join(arrays)) + wire.put_bytes(2, offsets.tobytes())
        tensor += wire.put_varint(3, _FLOAT32)
        record += wire.put_bytes(2, wire.put_text(1, name) + wire.put_bytes(2, tensor))
    record += wire.put_varint(3, len(outputs))
    message = wire.put_text(1, result["loss_fn_output_type"]) + wire.put_bytes(2, record)
    for name, value in result["metrics"].items():
        number = math.nan if value is None else float(value)
        message += wire.put_bytes(3, wire.put_text(1, name) + wire.put_double(2, number))
    return message
