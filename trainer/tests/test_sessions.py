"""A client that returns after an hour finds everything unchanged."""

import threading
from pathlib import Path

import pytest
import torch

from coa_trainer.model.adamw import AdamW
from coa_trainer.server.activity import ActivityTracker
from coa_trainer.server.service import Service
from live import ServerError, datum, sample, server_and_service

HOUR = 3600.0


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def pass_time(service: Service, clock: Clock, seconds: float) -> list[str]:
    """The models still loaded after this time, once idle ones have been unloaded."""
    clock.now += seconds
    done = threading.Event()
    service.park_idle(HOUR)
    service.worker.submit(done.set)
    assert done.wait(60)
    return list(service.executor.models)


def watched(service: Service) -> Clock:
    clock = Clock()
    service.executor.activity = ActivityTracker(clock)
    return clock


def state_of(adam: AdamW) -> list[dict[str, torch.Tensor]]:
    return [adam.copies(each, torch.float32) for each in (adam.master, adam.first, adam.second)]


@pytest.mark.parametrize("rank", [0, 4])
def test_idle_for_an_hour(tiny_folder: Path, tmp_path: Path, rank: int) -> None:
    with server_and_service(tiny_folder, tmp_path) as (client, service):
        clock = watched(service)
        session = client.post("/create_session", {"tags": []})["session_id"]
        model = client.create(rank, session_id=session)
        for _ in range(2):
            client.learn(model, [datum()])
            client.step(model)
        ephemeral = client.call("/save_weights_for_sampler", {"model_id": model})["sampling_session_id"]
        before = sample(client, model_id=model, samples=2)
        future = client.post("/forward", {"model_id": model, "forward_input": body(datum())})["request_id"]
        loss = client.result(future)["metrics"]["loss:sum"]
        state = state_of(service.executor.models[model].optimizer)

        # Heartbeats keep the model loaded; silence does not.
        assert pass_time(service, clock, HOUR / 2) == [model]
        client.post("/session_heartbeat", {"session_id": session})
        assert pass_time(service, clock, HOUR * 3 / 4) == [model]
        assert pass_time(service, clock, HOUR / 2) == []
        assert client.get("/coa/status")["models"] == []
        listed = client.get(f"/training_runs/{model}/checkpoints")["checkpoints"]
        assert [each["checkpoint_type"] for each in listed] == ["sampler"]

        # The client returns: the old future, the same state, and sampling works.
        assert client.result(future)["metrics"]["loss:sum"] == loss
        for one, other in zip(sample(client, model_id=model, samples=2), before, strict=True):
            # Loading the weights again counts as a change of version.
            assert {**one, "versions": None} == {**other, "versions": None}
        restored = service.executor.models[model].optimizer
        assert restored.step == 2
        for one, other in zip(state_of(restored), state, strict=True):
            assert one.keys() == other.keys()
            assert all(torch.equal(one[name], other[name]) for name in one)
        assert [each["tokens"] for each in sample(client, sampling_session_id=ephemeral, samples=2)] == [
            each["tokens"] for each in before
        ]
        client.learn(model, [datum()])
        assert client.step(model)["metrics"]["step"] == 3


def body(*data: dict[str, object]) -> dict[str, object]:
    return {"data": list(data), "loss_fn": "cross_entropy"}


def test_models_with_accumulated_gradients_stay_loaded(tiny_folder: Path, tmp_path: Path) -> None:
    with server_and_service(tiny_folder, tmp_path) as (client, service):
        clock = watched(service)
        model = client.create()
        client.learn(model, [datum()])
        assert pass_time(service, clock, 5 * HOUR) == [model]
        norm = client.step(model)["metrics"]["grad_norm"]
        assert norm > 0
        assert pass_time(service, clock, HOUR / 2) == [model]
        assert pass_time(service, clock, HOUR) == []


def test_a_parked_model_survives_a_restart(tiny_folder: Path, tmp_path: Path) -> None:
    with server_and_service(tiny_folder, tmp_path) as (client, service):
        clock = watched(service)
        model = client.create()
        client.learn(model, [datum()])
        client.step(model)
        loss = client.forward(model, [datum()])
        assert pass_time(service, clock, 2 * HOUR) == []
    with server_and_service(tiny_folder, tmp_path) as (client, service):
        assert client.forward(model, [datum()]) == loss
        assert service.executor.models[model].optimizer.step == 1
        client.call("/unload_model", {"model_id": model})
        assert not (tmp_path / "checkpoints" / model / "parked").exists()
        with pytest.raises(ServerError, match="Unknown model"):
            client.forward(model, [datum()])
