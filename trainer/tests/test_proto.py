"""The protobuf codec against hand-written bytes."""

import json
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from coa_trainer.errors import TrainerError
from coa_trainer.server import proto, wire
from live import ServerError, datum, server


def field(number: int, content: bytes) -> bytes:
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def tensor(values: Sequence[float], kind: int = 1) -> bytes:
    code = {1: "<%df", 2: "<%dq"}[kind]
    return field(1, struct.pack(code % len(values), *values)) + bytes([3 << 3, kind])


def request(tokens: list[int], model: str = "m", forward_only: bool = False) -> bytes:
    text = field(1, struct.pack(f"<{len(tokens) - 1}i", *tokens[:-1]))
    targets = field(1, b"target_tokens") + field(2, tensor(tokens[1:], 2))
    weights = field(1, b"weights") + field(2, tensor([0.5] * (len(tokens) - 1)))
    content = field(1, field(1, text)) + field(2, targets) + field(2, weights)
    message = field(1, model.encode()) + bytes([2 << 3, 7])
    # A length over 127 takes two bytes.
    message += bytes([3 << 3 | 2, len(content) & 127 | 128, len(content) >> 7]) + content
    message += field(4, b"cross_entropy")
    return message + (bytes([6 << 3, 1]) if forward_only else b"")


def test_requests_are_decoded() -> None:
    data = request([5, 6, 7, 300])
    assert proto.read_header(data) == ("m", 7, False)
    body = proto.decode_pass_request(data)
    assert (body["model_id"], body["seq_id"]) == ("m", 7)
    [read] = body["forward_backward_input"]["data"]
    assert read["model_input"]["chunks"][0]["tokens"].tolist() == [5, 6, 7]
    assert read["loss_fn_inputs"]["target_tokens"]["data"].tolist() == [6, 7, 300]
    assert read["loss_fn_inputs"]["weights"]["data"].tolist() == [0.5] * 3
    assert body["forward_backward_input"]["loss_fn"] == "cross_entropy"


def test_settings_are_decoded_in_both_forms() -> None:
    number = bytes([2 << 3 | 1]) + struct.pack("<d", 0.25)
    old = field(5, field(1, b"dual_clip") + number)
    new = field(7, field(1, b"importance_cap") + field(2, bytes([1 << 3 | 1]) + struct.pack("<d", 2.0)))
    config = proto.decode_pass_request(old + new)["forward_backward_input"]["loss_fn_config"]
    assert config == {"dual_clip": 0.25, "importance_cap": 2.0}


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 2**31, 2**63, 2**64 - 1])
def test_varints(value: int) -> None:
    assert list(wire.fields(wire.put_varint(1, value))) == [(1, 0, value)]


@pytest.mark.parametrize("data", [b"\x08", b"\x0a\x05abc", b"\xff" * 12, b"\x0b", b"\x09abc", b"\x0a\xff\xff\x0f"])
def test_malformed_bytes_are_rejected(data: bytes) -> None:
    with pytest.raises(TrainerError, match="protobuf"):
        list(wire.fields(data))


def test_results_are_encoded() -> None:
    sequence = {"stop_reason": "length", "tokens": [1, 2], "logprobs": [-1.0, -2.0], "reused": 3}
    data = proto.encode_result({"sequences": [sequence], "prompt_logprobs": [None, -0.5]})
    assert data is not None
    inner = b"\x08\x01" + field(2, struct.pack("<2i", 1, 2)) + field(3, struct.pack("<2f", -1, -2))
    scores = field(2, np.array([np.nan, -0.5], dtype="<f4").tobytes())
    assert data == field(1, inner) + scores + b"\x20\x03"
    assert proto.encode_result({"metrics": {}}) is None


def test_over_http(tiny_folder: Path, tmp_path: Path) -> None:
    with server(tiny_folder, tmp_path) as client:
        model = client.create()
        tokens = list(b"some text to be learned")
        whole = client.learn(model, [datum(bytes(tokens[:8]), weights=[0.5] * 7)])
        sent = client.send("POST", "/forward_backward", request(tokens[:8], model), Content_Type=proto.CONTENT_TYPE)
        future = json.loads(sent)["request_id"]
        assert client.result(future) == whole
        body = json.dumps({"request_id": future}).encode()
        packed = client.send("POST", "/retrieve_future", body, Accept=proto.CONTENT_TYPE)
        records = [wire.as_bytes(value) for number, _, value in wire.fields(packed) if number == 2]
        arrays = dict(wire.entry(wire.as_bytes(value)) for number, _, value in wire.fields(records[0]) if number == 2)
        flat = next(value for number, _, value in wire.fields(wire.as_bytes(arrays["logprobs"])) if number == 1)
        found = np.frombuffer(wire.as_bytes(flat), dtype="<f4")
        assert found.tolist() == pytest.approx(whole["loss_fn_outputs"][0]["logprobs"]["data"])
        with pytest.raises(ServerError, match="protobuf"):
            client.send("POST", "/forward_backward", b"\x08", Content_Type=proto.CONTENT_TYPE)
