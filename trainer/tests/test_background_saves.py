"""Checkpoints are written while training continues."""

import threading
from pathlib import Path
from typing import Any

import pytest

from coa_trainer.model import checkpoint
from coa_trainer.model.tensor_file import write_tensors
from live import ServerError, datum, server
from processes import wait_for


def test_training_continues_while_a_checkpoint_is_written(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    started = tmp_path / "started"

    def slow(*given: Any) -> str:
        started.write_text("")
        assert release.wait(60)
        return write_tensors(*given)

    monkeypatch.setattr(checkpoint, "write_tensors", slow)
    with server(tiny_folder, tmp_path / "data") as client:
        model = client.create()
        client.learn(model, [datum()])
        client.step(model)
        loss = client.forward(model, [datum()])
        future = client.post("/save_weights", {"model_id": model, "path": "slow"})["request_id"]
        wait_for(started)
        for _ in range(2):
            client.learn(model, [datum()])
            client.step(model)
        assert client.forward(model, [datum()]) < loss
        listed = f"/training_runs/{model}/checkpoints"
        assert client.get(listed) == {"checkpoints": []}
        # Requests that need the file wait for it: this one is queued until the save has ended.
        load = {"model_id": model, "path": f"tinker://{model}/weights/slow", "optimizer": True}
        loaded = client.post("/load_weights", load)["request_id"]
        release.set()
        assert client.result(future)["path"] == f"tinker://{model}/weights/slow"
        assert client.result(loaded)["optimizer"] is True
        # The weights of the moment when it was requested.
        assert client.forward(model, [datum()]) == loss
        client.learn(model, [datum()])
        assert client.step(model)["metrics"]["step"] == 2


def test_a_save_reports_its_own_failure_and_the_next_one_works(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: Any) -> str:
        raise OSError(28, "No space left on device")

    with server(tiny_folder, tmp_path / "data") as client:
        model = client.create()
        with monkeypatch.context() as patch:
            patch.setattr(checkpoint, "write_tensors", full_disk)
            with pytest.raises(ServerError, match="No space left") as failed:
                client.call("/save_weights", {"model_id": model, "path": "one"})
        assert failed.value.status == 507
        assert client.get(f"/training_runs/{model}/checkpoints") == {"checkpoints": []}
        client.call("/save_weights", {"model_id": model, "path": "two", "optimizer": False})
        files = client.get(f"/training_runs/{model}/checkpoints/two/files")["files"]
        assert "optimizer.safetensors" not in {file["name"] for file in files}
