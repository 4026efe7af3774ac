"""A model sharded over two processes trains like a single process."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from live import Client, Process, ServerError, datum, sample

TEXTS = (b"some text to be learned", b"another one", b"and a third that is longer than both of the others", b"end")


def learned(client: Client, data: Path, name: str) -> tuple[str, list[float], list[float]]:
    """Trains three steps and saves a checkpoint; returns the model, losses and gradient norms."""
    model = client.create()
    batches = [[datum(text) for text in TEXTS], [datum(TEXTS[2])], [datum(text) for text in TEXTS[:3]]]
    losses, norms = [], []
    for batch in batches:
        losses.append(client.learn(model, batch)["metrics"]["loss:sum"])
        norms.append(client.step(model, 0.01, adam_params={"learning_rate": 0.01, "weight_decay": 0.1})["metrics"])
    client.call("/save_weights", {"model_id": model, "path": name})
    assert (data / "checkpoints" / model / "weights" / name / "config.json").is_file()
    return model, losses, [each["grad_norm"] for each in norms]


def test_two_processes_train_like_one(tiny_folder: Path, tmp_path: Path) -> None:
    one, two = Process(tiny_folder, tmp_path / "one"), Process(tiny_folder, tmp_path / "two", ranks=2)
    try:
        sides = [(one.client, tmp_path / "one"), (two.client, tmp_path / "two")]
        (model, losses, norms), (spread, found, lengths) = (learned(*side, "end") for side in sides)
        assert found == pytest.approx(losses, rel=1e-5)
        assert lengths == pytest.approx(norms, rel=1e-5)
        folders = [
            data / "checkpoints" / name / "weights" / "end"
            for name, (_, data) in zip((model, spread), sides, strict=True)
        ]
        for file in ("model.safetensors", "optimizer.safetensors"):
            tensors, others = (load_file(folder / file) for folder in folders)
            assert tensors.keys() == others.keys()
            for name, tensor in tensors.items():
                assert torch.allclose(tensor, others[name], atol=1e-5), name
        assert sorted(path.name for path in folders[0].iterdir()) == sorted(path.name for path in folders[1].iterdir())

        # Sampling uses the current weights, also after another step.
        for _ in range(2):
            tokens, others_tokens = (
                sample(client, model_id=name, samples=2, max_tokens=12)
                for client, name in ((one.client, model), (two.client, spread))
            )
            for this, that in zip(tokens, others_tokens, strict=True):
                assert this["tokens"] == that["tokens"]
                assert np.abs(np.array(this["logprobs"]) - np.array(that["logprobs"])).max() < 1e-4
            for client, name in ((one.client, model), (two.client, spread)):
                client.learn(name, [datum(TEXTS[0])])
                client.step(name, 0.02)

        # Gathered weights do not outlive an optimizer step, and a checkpoint can be loaded.
        after = [
            client.forward(name, [datum(TEXTS[1])]) for client, name in ((one.client, model), (two.client, spread))
        ]
        assert after[1] == pytest.approx(after[0], rel=1e-4)
        body = {"model_id": spread, "path": f"tinker://{spread}/weights/end", "optimizer": True}
        assert two.client.call("/load_weights", body)["optimizer"] is True
        back = two.client.forward(spread, [datum(TEXTS[1])])
        assert back != pytest.approx(after[1], rel=1e-3)

        # Failures leave all processes unchanged and in step.
        with pytest.raises(ServerError, match="one GPU only"):
            two.client.create(rank=4)
        with pytest.raises(ServerError, match="Unknown loss"):
            two.client.learn(spread, [datum(TEXTS[0])], loss="nothing")
        assert two.client.forward(spread, [datum(TEXTS[1])]) == back
        assert two.end() == 0
    finally:
        one.kill()
        two.kill()
