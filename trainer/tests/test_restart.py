"""A server killed at the worst moment, and its successor."""

from pathlib import Path

import pytest

from live import Client, ServerError, datum
from processes import Process, Program, wait_for


def train(client: Client, model: str, first: int, count: int) -> list[float]:
    losses = []
    for number in range(first, first + count):
        result = client.learn(model, [datum()], seq_id=2 * number)
        losses.append(result["metrics"]["loss:sum"])
        client.step(model, seq_id=2 * number + 1)
    return losses


def submit_pass(client: Client, model: str, seq_id: int, path: str = "/forward_backward") -> str:
    content = {"data": [datum()], "loss_fn": "cross_entropy"}
    body = {"model_id": model, "seq_id": seq_id, "forward_backward_input": content}
    future: str = client.post(path, body)["request_id"]
    return future


def test_the_server_announces_its_address_and_stops_on_sigterm(tiny_folder: Path, tmp_path: Path) -> None:
    process = Program(tiny_folder, tmp_path)
    assert process.ready.keys() == {"url", "device", "dtype", "pid"}
    assert process.ready["pid"] == process.process.pid
    assert (process.ready["device"], process.ready["dtype"]) == ("cpu", "float32")
    assert process.client.get("/healthz") == {"status": "ok"}
    assert process.end() == 0


def test_results_survive_a_restart(tiny_folder: Path, tmp_path: Path) -> None:
    first = Process(tiny_folder, tmp_path)
    model = first.client.create()
    future = submit_pass(first.client, model, 1)
    result = first.client.result(future)
    first.kill()
    second = Process(tiny_folder, tmp_path)
    assert second.client.result(future) == result
    second.end()


def test_killed_during_a_step(tiny_folder: Path, tmp_path: Path) -> None:
    """The step and the requests queued behind it fail."""
    reached = tmp_path / "reached"
    first = Process(tiny_folder, tmp_path / "data", "step", reached)
    model = first.client.create()
    submit_pass(first.client, model, 1)
    step = first.client.post("/optim_step", {"model_id": model, "seq_id": 2, "adam_params": {}})["request_id"]
    after = submit_pass(first.client, model, 3)
    wait_for(reached)
    first.kill()
    second = Process(tiny_folder, tmp_path / "data")
    for future in (step, after):
        with pytest.raises(ServerError, match="410"):
            second.client.result(future)
    with pytest.raises(ServerError, match="410"):
        submit_pass(second.client, model, 4)
    fresh = second.client.create()
    assert len(train(second.client, fresh, 0, 2)) == 2
    second.end()


def test_queued_requests_run_after_a_restart_if_the_model_was_saved(tiny_folder: Path, tmp_path: Path) -> None:
    data, reached = tmp_path / "data", tmp_path / "reached"
    first = Process(tiny_folder, data)
    model = first.client.create()
    train(first.client, model, 0, 2)
    first.client.call("/save_weights", {"model_id": model, "path": "two", "seq_id": 50})
    expected = first.client.forward(model, [datum()])
    first.end()

    second = Process(tiny_folder, data, "forward", reached)
    looking = submit_pass(second.client, model, 51, "/forward")
    learning = submit_pass(second.client, model, 52)
    step = second.client.post("/optim_step", {"model_id": model, "seq_id": 53, "adam_params": {}})["request_id"]
    wait_for(reached)
    second.kill()

    third = Process(tiny_folder, data)
    assert third.client.result(looking)["metrics"]["loss:sum"] == expected
    assert third.client.result(learning)["metrics"]["loss:sum"] == expected
    assert third.client.result(step)["metrics"]["step"] == 3
    # A repeated request is still recognized.
    assert submit_pass(third.client, model, 52) == learning
    third.end()


def test_killed_during_a_save(tiny_folder: Path, tmp_path: Path) -> None:
    data, reached = tmp_path / "data", tmp_path / "reached"
    first = Process(tiny_folder, data)
    model = first.client.create()
    train(first.client, model, 0, 2)
    path = first.client.call("/save_weights", {"model_id": model, "path": "same"})["path"]
    expected = train(first.client, model, 2, 2)
    first.end()

    second = Process(tiny_folder, data, "save", reached)
    other = second.client.create()
    second.client.call("/load_weights", {"model_id": other, "path": path, "optimizer": True})
    save = second.client.post("/save_weights", {"model_id": other, "path": "broken"})["request_id"]
    wait_for(reached)
    second.kill()
    folder = data / "checkpoints" / other / "weights"
    assert [each.name.endswith(".tmp") for each in folder.iterdir()] == [True]

    third = Process(tiny_folder, data)
    with pytest.raises(ServerError, match="410"):
        third.client.result(save)
    assert list(folder.iterdir()) == []
    last = third.client.create()
    third.client.call("/load_weights", {"model_id": last, "path": path, "optimizer": True})
    assert train(third.client, last, 0, 2) == expected
    third.end()
