"""A client that is gone for an hour finds everything as it was."""

import threading
from pathlib import Path

import pytest
import torch

from coa_trainer.server.service import Service
from coa_trainer.server.signs import Signs
from live import Refused, datum, sample, server_and_service

HOUR = 3600.0


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def pass_time(service: Service, clock: Clock, seconds: float) -> list[str]:
    """What is loaded after this time and a look at who is gone."""
    clock.now += seconds
    done = threading.Event()
    service.park_gone(HOUR)
    service.worker.submit(done.set)
    assert done.wait(60)
    return list(service.machine.models)


def watched(service: Service) -> Clock:
    clock = Clock()
    service.machine.signs = Signs(clock)
    return clock


@pytest.mark.parametrize("rank", [0, 4])
def test_gone_for_an_hour(tiny_folder: Path, tmp_path: Path, rank: int) -> None:
    with server_and_service(tiny_folder, tmp_path) as (client, service):
        clock = watched(service)
        session = client.post("/create_session", {"tags": []})["session_id"]
        model = client.create(rank, session_id=session)
        for _ in range(2):
            client.learn(model, [datum()])
            client.step(model)
        passing = client.call("/save_weights_for_sampler", {"model_id": model})["sampling_session_id"]
        before = sample(client, model_id=model, samples=2)
        future = client.post("/forward", {"model_id": model, "forward_input": body(datum())})["request_id"]
        loss = client.result(future)["metrics"]["loss:sum"]
        state = service.machine.models[model].optimizer.state()

        # Heartbeats keep it where it is, silence does not.
        assert pass_time(service, clock, HOUR / 2) == [model]
        client.post("/session_heartbeat", {"session_id": session})
        assert pass_time(service, clock, HOUR * 3 / 4) == [model]
        assert pass_time(service, clock, HOUR / 2) == []
        assert client.get("/coa/status")["models"] == []
        listed = client.get(f"/training_runs/{model}/checkpoints")["checkpoints"]
        assert [each["checkpoint_type"] for each in listed] == ["sampler"]

        # Back again: the old future, the same state, and sampling goes on.
        assert client.result(future)["metrics"]["loss:sum"] == loss
        assert sample(client, model_id=model, samples=2) == before
        woken = service.machine.models[model].optimizer
        assert woken.step == 2
        for one, other in zip(woken.state(), state, strict=True):
            assert one.keys() == other.keys()
            assert all(torch.equal(one[name], other[name]) for name in one)
        assert [each["tokens"] for each in sample(client, sampling_session_id=passing, samples=2)] == [
            each["tokens"] for each in before
        ]
        client.learn(model, [datum()])
        assert client.step(model)["metrics"]["step"] == 3


def body(*data: dict[str, object]) -> dict[str, object]:
    return {"data": list(data), "loss_fn": "cross_entropy"}


def test_gathered_gradients_are_not_put_away(tiny_folder: Path, tmp_path: Path) -> None:
    with server_and_service(tiny_folder, tmp_path) as (client, service):
        clock = watched(service)
        model = client.create()
        client.learn(model, [datum()])
        assert pass_time(service, clock, 5 * HOUR) == [model]
        norm = client.step(model)["metrics"]["grad_norm"]
        assert norm > 0
        assert pass_time(service, clock, HOUR / 2) == [model]
        assert pass_time(service, clock, HOUR) == []


def test_a_parked_model_outlives_the_server(tiny_folder: Path, tmp_path: Path) -> None:
    with server_and_service(tiny_folder, tmp_path) as (client, service):
        clock = watched(service)
        model = client.create()
        client.learn(model, [datum()])
        client.step(model)
        loss = client.forward(model, [datum()])
        assert pass_time(service, clock, 2 * HOUR) == []
    with server_and_service(tiny_folder, tmp_path) as (client, service):
        assert client.forward(model, [datum()]) == loss
        assert service.machine.models[model].optimizer.step == 1
        client.call("/unload_model", {"model_id": model})
        assert not (tmp_path / "checkpoints" / model / "parked").exists()
        with pytest.raises(Refused, match="no model"):
            client.forward(model, [datum()])
