"""Repeated, concurrent, invalid, oversized and unauthorized requests, and running out of memory."""

import gzip
import json
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from coa_trainer.options import parse_options
from live import Client, ServerError, chunks, datum, sample, server
from tiny import save_tiny


@pytest.fixture(scope="module")
def client(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with server(tiny_folder, tmp_path_factory.mktemp("data"), "--body-limit", "200000") as live:
        yield live


def test_a_repeated_request_returns_the_same_future(client: Client) -> None:
    model = client.create()
    content = {"data": [datum()], "loss_fn": "cross_entropy"}
    body = {"model_id": model, "seq_id": 3, "forward_backward_input": content}
    first, second = client.post("/forward_backward", body), client.post("/forward_backward", body)
    assert first["request_id"] == second["request_id"]
    client.result(first["request_id"])
    norm = client.step(model, seq_id=4)["metrics"]["grad_norm"]
    other = client.create()
    client.learn(other, [datum()])
    assert client.step(other)["metrics"]["grad_norm"] == norm
    with pytest.raises(ServerError, match="409"):
        client.post("/optim_step", {"model_id": model, "seq_id": 3, "adam_params": {}})
    creation = {"session_id": "s1", "model_seq_id": 0, "base_model": "tiny", "lora_config": {"rank": 2}}
    assert client.post("/create_model", creation)["model_id"] == client.post("/create_model", creation)["model_id"]


def test_two_clients_train_one_model(client: Client) -> None:
    """Their gradients are summed, in whatever order they arrive."""
    model, alone = client.create(), client.create()
    failures: list[BaseException] = []

    def pass_on(text: bytes) -> None:
        try:
            client.learn(model, [datum(text)])
        except BaseException as error:
            failures.append(error)

    texts = [b"one text", b"another text", b"a third text", b"and a fourth"]
    threads = [threading.Thread(target=pass_on, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    client.learn(alone, [datum(text) for text in texts])
    one, two = client.step(model)["metrics"], client.step(alone)["metrics"]
    assert one["grad_norm"] == pytest.approx(two["grad_norm"], rel=1e-5)


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("loss", {"data": [datum()], "loss_fn": "nonsense"}, "Unknown loss nonsense"),
    ("nothing", {"data": [], "loss_fn": "cross_entropy"}, "at least one"),
    ("token", {"data": [{**datum(), "model_input": chunks([300] * 22)}]}, "outside the vocabulary"),
    ("length", {"data": [{**datum(), "model_input": chunks([1] * 21)}]}, "22 entries for 21"),
    ("long", {"data": [datum(b"x" * 300)]}, "must have 1 to 256"),
    ("image", {"data": [{**datum(), "model_input": {"chunks": [{"type": "image"}]}}]}, "only encoded_text"),
    ("text", {"data": [datum(weights=["a"] * 22)]}, "flat list of numbers"),  # type: ignore[list-item]
    ("list", {"data": "many"}, "must be a list"),
]


@pytest.mark.parametrize(("name", "content", "words"), BAD, ids=[each[0] for each in BAD])
def test_invalid_examples_are_rejected_without_side_effects(
    client: Client, name: str, content: dict[str, Any], words: str
) -> None:
    model = client.create()
    client.learn(model, [datum()])
    with pytest.raises(ServerError, match=words) as caught:
        client.call("/forward_backward", {"model_id": model, "forward_backward_input": content})
    assert caught.value.status == 400
    assert client.step(model)["metrics"]["grad_norm"] > 0


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"\xff\xfe", b"null", b'{"model_id": 5}', b"[" * 100_000])
def test_garbage_is_rejected(client: Client, body: bytes) -> None:
    for path in ("/forward_backward", "/asample", "/create_model", "/retrieve_future", "/load_weights"):
        with pytest.raises(ServerError, match=r"40[04]"):
            client.result(json.loads(client.send("POST", path, body))["request_id"])
    assert client.get("/healthz") == {"status": "ok"}


def test_oversized_requests_are_rejected(client: Client) -> None:
    with pytest.raises(ServerError, match="413"):
        client.send("POST", "/forward_backward", b" " * 200_001)
    with pytest.raises(ServerError, match="413"):
        client.send("POST", "/forward_backward", gzip.compress(b" " * 300_000), Content_Encoding="gzip")
    with pytest.raises(ServerError, match="415"):
        client.send("POST", "/forward_backward", b"x", Content_Encoding="br")
    small = gzip.compress(json.dumps({"model_id": "none"}).encode())
    with pytest.raises(ServerError, match="404"):
        client.send("POST", "/forward_backward", small, Content_Encoding="gzip")


@pytest.mark.parametrize("name", ["../x", "a/b", "..", ".hidden", "a b", "x" * 300, ""])
def test_path_traversal_is_rejected(client: Client, name: str, tmp_path: Path) -> None:
    model = client.create()
    if name:
        with pytest.raises(ServerError, match="400"):
            client.call("/save_weights", {"model_id": model, "path": name})
    with pytest.raises(ServerError, match=r"40[04]"):
        client.call("/load_weights", {"model_id": model, "path": f"upload://{name}"})
    with pytest.raises(ServerError, match=r"40[04]"):
        client.call("/load_weights", {"model_id": model, "path": f"tinker://{model}/weights/{name}"})


def test_unknown_ids_return_404(client: Client) -> None:
    for path, body in (
        ("/retrieve_future", {"request_id": "none"}),
        ("/optim_step", {"model_id": "none"}),
        ("/get_info", {"model_id": "none"}),
        ("/nowhere", {}),
    ):
        with pytest.raises(ServerError, match="404"):
            client.post(path, body)
    with pytest.raises(ServerError, match="tiny"):
        client.post("/create_model", {"base_model": "elsewhere"})


@pytest.mark.parametrize("rank", [0, 4])
def test_unloaded_models_are_unknown(client: Client, rank: int) -> None:
    model, other = client.create(rank), client.create(4)
    assert client.call("/unload_model", {"model_id": model})["status"] == "unloaded"
    with pytest.raises(ServerError, match="404"):
        client.step(model)
    client.learn(other, [datum()])
    assert client.step(other)["metrics"]["step"] == 1


def test_keys(tiny_folder: Path, tmp_path: Path) -> None:
    with server(tiny_folder, tmp_path, key="secret") as good:
        assert good.get("/get_server_capabilities")["coa"] == {"version": 4}
        for key in (None, "wrong", "secret2", "sécret"):
            bad = Client(good.url.removesuffix("/api/v1"), key if key is None else key.encode().decode("latin-1"))
            assert bad.get("/healthz") == {"status": "ok"}
            with pytest.raises(ServerError, match="401"):
                bad.get("/get_server_capabilities")
            with pytest.raises(ServerError, match="401"):
                bad.post("/create_model", {"base_model": "tiny"})


def test_out_of_memory_in_training(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with server(tiny_folder, tmp_path) as client:
        model = client.create()
        client.learn(model, [datum()])

        def exhausted(*_: Any) -> Any:
            raise torch.OutOfMemoryError("CUDA out of memory")

        with monkeypatch.context() as patch:
            patch.setattr("coa_trainer.model.head.elementwise_loss", exhausted)
            with pytest.raises(ServerError, match="--batch-tokens") as caught:
                client.learn(model, [datum()])
        assert caught.value.status == 507
        # The earlier gradients were discarded.
        client.learn(model, [datum(b"fresh start")])
        norm = client.step(model)["metrics"]["grad_norm"]
        other = client.create()
        client.learn(other, [datum(b"fresh start")])
        assert client.step(other)["metrics"]["grad_norm"] == norm


def test_out_of_memory_in_sampling(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from coa_trainer.sampling.llama_decoder import LlamaDecoder

    with server(tiny_folder, tmp_path) as client:
        model = client.create()
        expected = sample(client, model_id=model)

        def exhausted(*_: Any) -> Any:
            raise torch.OutOfMemoryError("CUDA out of memory")

        with monkeypatch.context() as patch:
            patch.setattr(LlamaDecoder, "extend", exhausted)
            with pytest.raises(ServerError, match="--cache-tokens") as caught:
                sample(client, model_id=model, seed=2)
        assert caught.value.status == 507
        assert sample(client, model_id=model)[0]["tokens"] == expected[0]["tokens"]


@pytest.mark.parametrize("mode", [True, "end"])
def test_closing_the_connection_cancels_a_stream(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: Any
) -> None:
    from coa_trainer.sampling.llama_decoder import LlamaDecoder

    true_extend = LlamaDecoder.extend

    steps: list[None] = []

    def slow_extend(*arguments: Any) -> Any:
        steps.append(None)
        time.sleep(0.2)
        return true_extend(*arguments)

    with server(tiny_folder, tmp_path) as client:
        model = client.create()
        monkeypatch.setattr(LlamaDecoder, "extend", slow_extend)
        body = {"model_id": model, "prompt": chunks([1, 2, 3]), "sampling_params": {"max_tokens": 200}, "stream": mode}
        request = urllib.request.Request(client.url + "/asample", json.dumps(body).encode(), client.headers)
        with urllib.request.urlopen(request) as response:
            if mode is True:
                assert json.loads(response.readline())["sequence"] == 0
            while client.get("/coa/status")["sequences"] == 0:
                time.sleep(0.05)
        while client.get("/coa/status")["sequences"]:
            time.sleep(0.05)
        # Uncancelled, it would take 200.
        assert len(steps) < 150


def test_a_public_server_needs_a_key(tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--model", str(tiny_folder), "--data", str(tmp_path), "--host", "0.0.0.0"]
    with pytest.raises(SystemExit):
        parse_options(arguments)
    assert "loopback only" in capsys.readouterr().err
    assert parse_options([*arguments, "--key", "x"]).key == "x"
    assert parse_options([*arguments[:-1], "::1"]).key is None


def test_incomplete_weights_are_rejected(tiny_folder: Path, tmp_path: Path) -> None:
    with server(tiny_folder, tmp_path / "data") as client:
        model = client.create()
        client.call("/save_weights", {"model_id": model, "path": "a"})
        before = client.forward(model, [datum()])
        folder = tmp_path / "data" / "checkpoints" / model / "weights" / "a"
        tensors = load_file(folder / "model.safetensors")
        del tensors["model.layers.1.mlp.up_proj.weight"]
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        (folder / "model.safetensors.index.json").unlink()
        with pytest.raises(ServerError, match="incomplete"):
            client.call("/load_weights", {"model_id": model, "path": f"tinker://{model}/weights/a"})
        (folder / "model.safetensors").write_bytes(b"junk")
        with pytest.raises(ServerError, match="400"):
            client.call("/load_weights", {"model_id": model, "path": f"tinker://{model}/weights/a"})
        assert client.forward(model, [datum()]) == before


def test_several_base_models(tiny_folder: Path, tmp_path: Path) -> None:
    save_tiny(tmp_path / "other", "qwen3", seed=5)
    with server(tiny_folder, tmp_path / "data", "--model", f"second={tmp_path / 'other'}") as client:
        names = [each["model_name"] for each in client.get("/get_server_capabilities")["supported_models"]]
        assert names == ["tiny", "second"]
        first, second = client.create(), client.create(base_model="second")
        assert client.forward(first, [datum()]) != client.forward(second, [datum()])
