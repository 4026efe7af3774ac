"""Column messages: the container, hostile input, and the same results as JSON."""

import json
import struct
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coa_trainer.errors import TrainerError
from coa_trainer.server import columns
from live import PROMPT, Client, ServerError, datum, sample, server

FLOATS = ("weights", "advantages", "logprobs", "sampled_logprobs")


@pytest.fixture(scope="module")
def client(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with server(tiny_folder, tmp_path_factory.mktemp("columns")) as client:
        yield client


@pytest.fixture(scope="module")
def model(client: Client) -> str:
    return client.create()


def post(client: Client, path: str, message: bytes) -> bytes:
    return client.send("POST", path, message, Content_Type=columns.CONTENT_TYPE)


def result(client: Client, path: str, message: bytes) -> columns.Message:
    future = json.loads(post(client, path, message))["request_id"]
    while True:
        try:
            return columns.decode(client.send("POST", "/retrieve_future", json.dumps({"request_id": future}).encode()))
        except ServerError as error:
            if error.status != 408:
                raise


def pass_message(model: str, texts: list[bytes], header: dict[str, Any] | None = None, **given: Any) -> bytes:
    body: dict[str, Any] = {
        "lengths": ("int32", [[len(text) for text in texts]]),
        "tokens": ("int32", [list(text) for text in texts]),
        **{name: ("float32", values) for name, values in given.items()},
    }
    return columns.encode({"model_id": model, "loss_fn": "cross_entropy", **(header or {})}, body)


def raw(header: Any, data: bytes = b"", header_size: int | None = None, size: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    sizes = (len(text) if header_size is None else header_size, len(data) if size is None else size)
    return struct.pack("<4sII", columns.MAGIC, *sizes) + text + data


def test_messages_are_read_as_they_were_written() -> None:
    given: dict[str, Any] = {
        "a": ("int32", [[1, -2], [3]]),
        "b": ("uint8", [[7, 8, 9]]),
        "c": ("float32", [[0.5]]),
        "d": ("int32", []),
    }
    message = columns.decode(columns.encode({"name": "é"}, given))
    assert message.header == {"name": "é"}
    assert {name: column.tolist() for name, column in message.columns.items()} == {
        "a": [1, -2, 3],
        "b": [7, 8, 9],
        "c": [0.5],
        "d": [],
    }


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"COA1",
        b"COA2" + bytes(8),
        raw({"columns": []}, size=4),
        raw({"columns": []}, header_size=0),
        raw({"columns": []}, header_size=2**32 - 1),
        raw({"columns": []}, b"1234"),
        raw(b"[1]"),
        raw(b"not!"),
        raw(b"[" * 4000),
        raw({}),
        raw({"columns": [["a", "int32"]]}),
        raw({"columns": [["a", "int64", 0]]}),
        raw({"columns": [[1, "int32", 0]]}),
        raw({"columns": [["a", "int32", -1]]}),
        raw({"columns": [["a", "int32", True]]}, b"1234"),
        raw({"columns": [["a", "int32", 1.0]]}, b"1234"),
        raw({"columns": [["a", "int32", 2]]}, b"1234"),
        raw({"columns": [["a", "int32", 2**31]]}, b"1234"),
        raw({"columns": [["a", "int32", 2**40]]}, b"1234"),
        raw({"columns": [["a", "uint8", 3]]}, b"123"),
        raw({"columns": [["a", "int32", 1], ["a", "int32", 0]]}, b"1234"),
        raw({"columns": [["a", "int32", 0]] * 65}),
    ],
)
def test_malformed_messages_are_rejected(data: bytes) -> None:
    with pytest.raises(TrainerError) as caught:
        columns.decode(data)
    assert caught.value.status in (400, 413)


def test_truncated_messages_are_rejected() -> None:
    whole = columns.encode({"name": "x"}, {"a": ("int32", [[1, 2, 3]]), "b": ("uint8", [[1]])})
    for length in range(len(whole)):
        with pytest.raises(TrainerError):
            columns.decode(whole[:length])


def test_a_pass_gives_the_same_result_as_json(client: Client, model: str) -> None:
    texts = [b"some text to be learned", b"another, longer text to be learned"]
    weights: list[Any] = [[0.0, 0.5] * 8 + [1.0] * (len(text) - 16) for text in texts]
    expected = client.learn(model, [datum(text, weights=each[1:]) for text, each in zip(texts, weights, strict=True)])
    client.step(model, 0.0)
    found = result(client, "/forward_backward", pass_message(model, texts, weights=weights))
    client.step(model, 0.0)
    assert found.header["metrics"]["loss:sum"] == pytest.approx(expected["metrics"]["loss:sum"], rel=1e-5)
    logprobs = [[0.0, *each["logprobs"]["data"]] for each in expected["loss_fn_outputs"]]
    assert found.columns["logprobs"].tolist() == pytest.approx([*chain(*logprobs)], abs=1e-6)


def test_a_policy_pass_gives_the_same_gradient_as_json(client: Client, model: str) -> None:
    text = b"some text to be learned"
    rng = np.random.default_rng(1)
    given = {name: rng.normal(-1, 0.2, len(text)).astype(np.float32).tolist() for name in FLOATS}
    config = {"clip_low_threshold": 0.8, "clip_high_threshold": 1.28, "dual_clip": 3.0, "importance_cap": 2.0}
    content = {
        "data": [datum(text, **{name: values[1:] for name, values in given.items()})],
        "loss_fn": "ppo",
        "loss_fn_config": config,
    }
    expected = client.call("/forward_backward", {"model_id": model, "forward_backward_input": content})
    norm = client.step(model, 0.0)["metrics"]["grad_norm"]
    message = pass_message(
        model, [text], {"loss_fn": "ppo", "loss_fn_config": config}, **{k: [v] for k, v in given.items()}
    )
    found = result(client, "/forward_backward", message)
    assert found.header["metrics"]["loss:sum"] == pytest.approx(expected["metrics"]["loss:sum"], rel=1e-5)
    assert client.step(model, 0.0)["metrics"]["grad_norm"] == pytest.approx(norm, rel=1e-5)


@pytest.mark.parametrize(
    ("texts", "given", "detail"),
    [
        ([], {}, "at least one"),
        ([b"x"], {}, "datum 0 has 1 tokens"),
        ([b"ab", b"y" * 500], {}, "datum 1 has 500 tokens"),
        ([b"abc"], {"weights": [[1, 1]]}, "weights has 2 entries for 3 tokens"),
        ([b"abc"], {"advantages": [[1, 1, 1]]}, "has unknown advantages"),
    ],
)
def test_invalid_passes_are_rejected(
    client: Client, model: str, texts: list[bytes], given: dict[str, Any], detail: str
) -> None:
    with pytest.raises(ServerError, match=detail) as caught:
        result(client, "/forward", pass_message(model, texts, **given))
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"lengths": ("int32", [[3]]), "tokens": ("int32", [[1, 2]])}, "lengths add up to 3"),
        ({"lengths": ("int32", [[4, -1]]), "tokens": ("int32", [[1, 2, 3]])}, "datum 1 has -1 tokens"),
        ({"lengths": ("int32", [[2]]), "tokens": ("int32", [[1, -2]])}, "outside the vocabulary"),
        ({"lengths": ("int32", [[2]]), "tokens": ("int32", [[1, 2**30]])}, "outside the vocabulary"),
        ({"lengths": ("int32", [[2]]), "tokens": ("float32", [[1, 2]])}, "no column tokens of type int32"),
        ({"tokens": ("int32", [[1, 2]])}, "no column lengths"),
    ],
)
def test_inconsistent_columns_are_rejected(client: Client, model: str, body: dict[str, Any], detail: str) -> None:
    with pytest.raises(ServerError, match=detail) as caught:
        result(client, "/forward", columns.encode({"model_id": model}, body))
    assert caught.value.status == 400


def test_a_nan_fails_the_step_unless_its_weight_is_zero(client: Client, model: str) -> None:
    text, nan = b"abcd", float("nan")
    header = {"loss_fn": "importance_sampling"}
    for weights, fails in ([0, 1, 0, 1], False), ([0, 1, 1, 1], True):
        given: dict[str, Any] = {
            "weights": [weights],
            "logprobs": [[nan, -1, nan, -1]],
            "advantages": [[nan, 1, nan, 1]],
        }
        found = result(client, "/forward_backward", pass_message(model, [text], header, **given))
        assert (found.header["metrics"]["loss:sum"] is None) == fails
        if not fails:
            client.step(model, 0.0)
            continue
        with pytest.raises(ServerError, match="not a number") as caught:
            client.step(model, 0.0)
        assert caught.value.status == 400


def test_a_repeated_pass_gets_its_first_result_and_another_body_is_rejected(client: Client, model: str) -> None:
    message = pass_message(model, [b"some text"], {"seq_id": 7})
    first = json.loads(post(client, "/forward_backward", message))
    assert json.loads(post(client, "/forward_backward", message)) == first
    with pytest.raises(ServerError, match="409"):
        post(client, "/forward_backward", pass_message(model, [b"other text"], {"seq_id": 7}))
    client.step(model, 0.0)


def sample_message(
    model: str, more: dict[str, Any] | None = None, allowed: list[int] | None = None, **params: Any
) -> bytes:
    given: dict[str, tuple[str, list[Any]]] = {"prompt": ("int32", [PROMPT])}
    if allowed is not None:
        given["allowed_tokens"] = ("uint8", [allowed])
    header = {"model_id": model, "sampling_params": {"max_tokens": 8, "seed": 1, **params}, **(more or {})}
    return columns.encode(header, given)


def test_samples_are_the_same_as_in_json(client: Client, model: str) -> None:
    expected = sample(client, samples=2, model_id=model)
    found = columns.decode(post(client, "/asample", sample_message(model, {"num_samples": 2})))
    assert found.columns["lengths"].tolist() == [8, 8]
    for name in ("tokens", "logprobs", "model_logprobs"):
        assert found.columns[name].tolist() == pytest.approx([*chain(*(each[name] for each in expected))], abs=1e-6)
    assert [each["stopped"] for each in found.header["sequences"]] == ["length", "length"]


def test_a_mask_allows_only_its_tokens(client: Client, model: str) -> None:
    [first] = sample(client, model_id=model)
    other = (first["tokens"][0] + 1) % 256
    vocabulary = client.get("/get_server_capabilities")["supported_models"][0]["vocabulary_size"]
    bits = np.zeros(vocabulary, dtype=bool)
    bits[other] = True
    allowed = np.packbits(bits, bitorder="little").tolist()
    found = columns.decode(post(client, "/asample", sample_message(model, allowed=allowed, max_tokens=1)))
    assert found.columns["tokens"].tolist() == [other]
    with pytest.raises(ServerError, match="must have"):
        post(client, "/asample", sample_message(model, allowed=allowed[:-1], max_tokens=1))


def test_a_stream_is_a_message_per_token_and_the_result(client: Client, model: str) -> None:
    data = post(client, "/asample", sample_message(model, {"stream": True}))
    messages: list[columns.Message] = []
    while data:
        _, header_size, size = struct.unpack_from("<4sII", data)
        messages.append(columns.decode(data[: 12 + header_size + size]))
        data = data[12 + header_size + size :]
    tokens = [message.columns["tokens"].tolist() for message in messages]
    assert len(tokens) == 9
    assert [*chain(*tokens[:-1])] == tokens[-1]
    assert [message.header for message in messages[:-1]] == [{"sequence": 0}] * 8


@pytest.mark.parametrize(
    ("message", "status"),
    [
        (sample_message("missing"), 404),
        (columns.encode({}, {"prompt": ("int32", [PROMPT])}), 400),
        (columns.encode({"base_model": "tiny"}, {}), 400),
        (columns.encode({"base_model": "tiny"}, {"prompt": ("int32", [[-1]])}), 400),
        (columns.encode({"base_model": "tiny", "prompt_logprobs": True}, {"prompt": ("int32", [[1]])}), 400),
        (columns.encode({"base_model": "tiny"}, {"prompt": ("int32", [[1] * 5000])}), 400),
    ],
)
def test_invalid_samples_are_rejected_with_a_status(client: Client, message: bytes, status: int) -> None:
    with pytest.raises(ServerError) as caught:
        post(client, "/asample", message)
    assert caught.value.status == status


def test_only_passes_and_samples_are_columns(client: Client, model: str) -> None:
    for path in ("/optim_step", "/create_session"):
        with pytest.raises(ServerError, match="JSON") as caught:
            post(client, path, columns.encode({"model_id": model}, {}))
        assert caught.value.status == 400
