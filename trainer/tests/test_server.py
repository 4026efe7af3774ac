"""The protocol over HTTP."""

import base64
import json
import math
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from live import PROMPT, Client, ServerError, chunks, datum, sample, server


@pytest.fixture(scope="module")
def client(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with server(tiny_folder, tmp_path_factory.mktemp("data"), "--body-limit", "200000") as live:
        yield live


def test_server_information(client: Client) -> None:
    assert client.get("/healthz") == {"status": "ok"}
    capabilities = client.get("/get_server_capabilities")
    assert capabilities["coa"] == {"version": 4}
    [model] = capabilities["supported_models"]
    assert model["model_name"] == "tiny"
    assert (model["max_context_length"], model["vocabulary_size"], model["parameters"]) == (256, 259, 26880)
    status = client.get("/coa/status")
    assert status["device"] == "cpu"
    assert status["memory"]["rss_bytes"] > 1 << 20
    assert status["versions"]["torch"] == torch.__version__
    assert client.post("/client/config", {"sdk_version": "1"})["pjwt_auth_enabled"] is False
    session = client.post("/create_session", {"tags": [], "user_metadata": None, "sdk_version": "1"})["session_id"]
    assert client.post("/session_heartbeat", {"session_id": session}) == {"type": "session_heartbeat"}
    with pytest.raises(ServerError, match="404"):
        client.post("/session_heartbeat", {"session_id": "never"})
    assert client.post("/telemetry", {"events": []}) == {"status": "accepted"}


@pytest.mark.parametrize("rank", [0, 4])
def test_training_lowers_the_loss(client: Client, rank: int) -> None:
    model = client.create(rank)
    losses = []
    for number in range(5):
        result = client.learn(model, [datum(), datum(b"another one")], seq_id=2 * number)
        losses.append(result["metrics"]["loss:sum"])
        metrics = client.step(model, seq_id=2 * number + 1)["metrics"]
        assert metrics["step"] == number + 1
        assert metrics["grad_norm"] > 0
    assert losses[-1] < losses[0] * 0.8
    outputs = result["loss_fn_outputs"]
    assert [len(each["logprobs"]["data"]) for each in outputs] == [22, 10]
    whole = sum(-sum(each["logprobs"]["data"]) for each in outputs)
    assert whole == pytest.approx(result["metrics"]["loss:sum"], rel=1e-5)
    info = client.post("/get_info", {"model_id": model})
    assert info["coa"]["trained_parameters"] == (26880 if rank == 0 else 4096)
    assert info["model_data"]["model_name"] == "tiny"


def test_ppo_over_the_wire(client: Client) -> None:
    model = client.create()
    before = client.learn(model, [datum()])["loss_fn_outputs"][0]["logprobs"]["data"]
    old = [value - 0.1 for value in before]
    inputs: dict[str, Any] = {"logprobs": old, "advantages": [1.0] * 11 + [-1.0] * 11, "weights": [0.5] * 22}
    settings = {"clip_low_threshold": 0.8, "clip_high_threshold": 1.28, "dual_clip": 10.0, "importance_cap": 2.0}
    result = client.call(
        "/forward_backward",
        {
            "model_id": model,
            "forward_backward_input": {"data": [datum(**inputs)], "loss_fn": "ppo", "loss_fn_config": settings},
        },
    )
    ratio = math.exp(0.1)
    assert result["metrics"]["loss:sum"] == pytest.approx(-0.5 * (11 * ratio - 11 * ratio), abs=1e-4)
    elementwise = result["loss_fn_outputs"][0]["elementwise_loss"]["data"]
    assert elementwise == pytest.approx([-0.5 * ratio] * 11 + [0.5 * ratio] * 11, abs=1e-4)


def test_null_where_the_weight_is_zero(client: Client) -> None:
    model = client.create()
    inputs: dict[str, Any] = {
        "logprobs": [None] * 11 + [-3.0] * 11,
        "advantages": [None] * 11 + [1.0] * 11,
        "weights": [0.0] * 11 + [1.0] * 11,
    }
    result = client.learn(model, [datum(**inputs)], "ppo")
    assert math.isfinite(result["metrics"]["loss:sum"])
    assert client.step(model)["metrics"]["grad_norm"] > 0
    inputs["weights"] = [1.0] * 22
    assert client.learn(model, [datum(**inputs)], "ppo")["metrics"]["loss:sum"] is None
    before = client.forward(model, [datum()])
    with pytest.raises(ServerError, match="not a number") as caught:
        client.step(model)
    assert caught.value.status == 400
    assert client.forward(model, [datum()]) == before
    # The gradients were discarded, so the next step works.
    client.learn(model, [datum()])
    assert client.step(model)["metrics"]["step"] == 2


def test_sampling_shares_the_weights(client: Client) -> None:
    model = client.create()
    [first] = sample(client, model_id=model, temperature=0)
    for _ in range(20):
        client.learn(model, [datum(bytes(PROMPT))])
        client.step(model)
    [second] = sample(client, PROMPT[:20], model_id=model, temperature=0)
    assert second["tokens"] == PROMPT[20:28]
    assert second["logprobs"] == [0.0] * 8
    assert max(second["model_logprobs"]) < 0
    assert first["tokens"] != second["tokens"]


def test_seeds_and_counts(client: Client) -> None:
    model = client.create()
    group = sample(client, model_id=model, samples=3, seed=40)
    assert group[2]["tokens"] == sample(client, model_id=model, seed=42)[0]["tokens"]
    [one] = sample(client, model_id=model, seed=42, max_tokens=3)
    assert one["tokens"] == group[2]["tokens"][:3]
    [rest] = sample(client, [*PROMPT, *one["tokens"]], model_id=model, seed=42, first_step=3, max_tokens=5)
    assert one["tokens"] + rest["tokens"] == group[2]["tokens"]
    assert rest["reused"] >= len(PROMPT)


def test_allowed_tokens_over_the_wire(client: Client) -> None:
    model = client.create()
    bits = np.zeros(259, dtype=np.uint8)
    bits[[65, 258]] = 1
    mask = base64.b64encode(np.packbits(bits, bitorder="little").tobytes()).decode()
    sampled = {
        sample(client, model_id=model, seed=seed, max_tokens=1, allowed_tokens=mask)[0]["tokens"][0]
        for seed in range(12)
    }
    assert sampled == {65, 258}
    nothing = base64.b64encode(bytes(33)).decode()
    [none] = sample(client, model_id=model, max_tokens=1, allowed_tokens=nothing)
    assert (none["tokens"], none["stopped"]) == ([], "nothing-allowed")
    with pytest.raises(ServerError, match="max_tokens 1"):
        sample(client, model_id=model, max_tokens=2, allowed_tokens=mask)
    with pytest.raises(ServerError, match="33"):
        sample(client, model_id=model, max_tokens=1, allowed_tokens="AA==")


def test_streams_deliver_tokens_one_by_one(client: Client) -> None:
    model = client.create()
    expected = sample(client, model_id=model, samples=2, seed=7)
    body = {"model_id": model, "prompt": chunks(PROMPT), "sampling_params": {"max_tokens": 8, "seed": 7}}
    lines = client.send("POST", "/asample", json.dumps({**body, "num_samples": 2, "stream": True}).encode())
    events = [json.loads(line) for line in lines.splitlines()]
    for number, sequence in enumerate(expected):
        assert [each["token"] for each in events if each.get("sequence") == number] == sequence["tokens"]
    assert [each["tokens"] for each in events[-1]["result"]["sequences"]] == [each["tokens"] for each in expected]
    quiet = client.send("POST", "/asample", json.dumps({**body, "num_samples": 2, "stream": "end"}).encode())
    assert [json.loads(line) for line in quiet.splitlines()] == [events[-1]]
    wrong = client.send("POST", "/asample", json.dumps({**body, "prompt": chunks([999]), "stream": True}).encode())
    assert json.loads(wrong)["error"]["status"] == 400


def test_prompts_are_scored(client: Client) -> None:
    model = client.create()
    body = {"model_id": model, "prompt": chunks(PROMPT), "sampling_params": {"max_tokens": 1}}
    result = client.call("/asample", {**body, "prompt_logprobs": True, "topk_prompt_logprobs": 2})
    learned = client.learn(model, [datum(bytes(PROMPT))])["loss_fn_outputs"][0]["logprobs"]["data"]
    assert result["prompt_logprobs"][0] is None
    assert result["prompt_logprobs"][1:] == pytest.approx(learned, abs=1e-5)
    assert len(result["topk_prompt_logprobs"][3]) == 2


def test_checkpoints_are_files(client: Client) -> None:
    model = client.create()
    client.learn(model, [datum()])
    client.step(model)
    path = client.call("/save_weights", {"model_id": model, "path": "one"})["path"]
    assert path == f"tinker://{model}/weights/one"
    loss = client.forward(model, [datum()])
    base = f"/training_runs/{model}/checkpoints/one/files"
    listed = {each["name"]: each["bytes"] for each in client.get(base)["files"]}
    assert {"config.json", "model.safetensors", "optimizer.safetensors", "tokenizer.json"} <= listed.keys()
    for name in listed:
        content = client.send("GET", f"{base}/{name}")
        assert len(content) == listed[name]
        client.send("PUT", f"/uploads/copy-{model}/{name}", content)
    half = client.send("GET", f"{base}/model.safetensors", Range="bytes=8-15")
    assert half == client.send("GET", f"{base}/model.safetensors")[8:16]
    other = client.create()
    assert client.forward(other, [datum()]) != loss
    taken = client.call("/load_weights", {"model_id": other, "path": f"upload://copy-{model}", "optimizer": True})
    assert taken["optimizer"] is True
    assert client.forward(other, [datum()]) == loss
    client.learn(other, [datum()])
    assert client.step(other)["metrics"]["step"] == 2
    checkpoints = client.get(f"/training_runs/{model}/checkpoints")["checkpoints"]
    assert [each["tinker_path"] for each in checkpoints] == [path]
    assert client.post("/weights_info", {"tinker_path": path}) == {
        "base_model": "tiny",
        "is_lora": False,
        "lora_rank": None,
    }
    assert model in {run["training_run_id"] for run in client.get("/training_runs?limit=100")["training_runs"]}
    packed = client.send("GET", f"/training_runs/{model}/checkpoints/weights/one/archive")
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        assert set(archive.getnames()) == listed.keys()
    client.send("DELETE", f"/training_runs/{model}/checkpoints/weights/one")
    with pytest.raises(ServerError, match="404"):
        client.get(base)


@pytest.mark.parametrize("rank", [0, 4])
def test_saved_weights_can_be_sampled_while_training_continues(client: Client, rank: int) -> None:
    model = client.create(rank)
    client.learn(model, [datum()])
    client.step(model, 0.05)
    ephemeral = client.call("/save_weights_for_sampler", {"model_id": model, "sampling_session_seq_id": 1, "seq_id": 9})
    saved = client.call("/save_weights_for_sampler", {"model_id": model, "path": "kept"})
    session = client.post("/create_sampling_session", {"session_id": "s", "model_path": saved["path"]})
    then = sample(client, model_id=model)[0]["tokens"]
    for source in (
        {"sampling_session_id": ephemeral["sampling_session_id"]},
        {"model_path": saved["path"]},
        {"sampling_session_id": session["sampling_session_id"]},
    ):
        assert sample(client, **source)[0]["tokens"] == then
    client.learn(model, [datum(b"something quite different")])
    client.step(model, 0.2)
    assert sample(client, model_id=model)[0]["tokens"] != then
    assert sample(client, sampling_session_id=ephemeral["sampling_session_id"])[0]["tokens"] == then
    assert sample(client, model_path=saved["path"])[0]["tokens"] == then
    sampler = client.get(f"/samplers/{session['sampling_session_id']}")
    assert sampler["model_path"] == saved["path"]
    assert sample(client, base_model="tiny")[0]["tokens"] == sample(client, model_id=client.create())[0]["tokens"]


@pytest.mark.parametrize("rank", [0, 4])
def test_in_bfloat16(tiny_folder: Path, tmp_path: Path, rank: int) -> None:
    with server(tiny_folder, tmp_path, "--dtype", "bfloat16") as client:
        model = client.create(rank)
        losses = []
        for _ in range(6):
            losses.append(client.learn(model, [datum(), datum(b"another one")])["metrics"]["loss:sum"])
            client.step(model)
        assert losses[-1] < losses[0] * 0.8
        [sequence] = sample(client, model_id=model)
        whole = bytes([*PROMPT, *[token % 256 for token in sequence["tokens"]]])
        learned = client.learn(model, [datum(whole)])["loss_fn_outputs"][0]["logprobs"]["data"][len(PROMPT) - 1 :]
        first = sequence["tokens"].index(next((t for t in sequence["tokens"] if t > 255), sequence["tokens"][-1]))
        # bfloat16 has 8 bits of mantissa: a different summation order differs by this much; more would be a bug.
        assert sequence["model_logprobs"][:first] == pytest.approx(learned[:first], abs=0.15)
        path = client.call("/save_weights", {"model_id": model, "path": "narrow"})["path"]
        before = client.forward(model, [datum()])
        client.step(model)
        client.call("/load_weights", {"model_id": model, "path": path, "optimizer": True})
        assert client.forward(model, [datum()]) == before
