"""Compiled passes match uncompiled ones on padded rows."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from coa_trainer.model.adamw import AdamSettings
from coa_trainer.model.compiled import Compiler
from coa_trainer.model.datum import Datum, Loss
from coa_trainer.model.learner import PassOptions
from coa_trainer.model.packing import pack, plan_rows, size_for
from helpers import bases_of, full_model, random_datum
from tiny import save_tiny

CROSS = Loss("cross_entropy")


def some_data() -> list[Datum]:
    return [random_datum(length, length) for length in (7, 1, 23, 12, 64, 3)]


def test_row_sizes_are_few_and_large_enough() -> None:
    assert [size_for(tokens) for tokens in (1, 192, 193, 257, 384, 385, 4000)] == [192, 192, 256, 384, 384, 512, 4096]
    assert len({size_for(tokens) for tokens in range(1, 65537)}) == 18


@pytest.mark.parametrize("weighted", [False, True])
def test_padding_has_zero_weight(weighted: bool) -> None:
    inputs: dict[str, Any] = {"weights": np.full(5, 0.5)} if weighted else {}
    data = [random_datum(5, 1, **inputs), random_datum(300, 2)]
    (plan,) = plan_rows(data, 384)
    row = pack(data, plan, torch.device("cpu"), fill=True)
    assert len(row.tokens) == len(row.targets) == 384
    assert row.layout.ends == (5, 305, 384)
    assert row.inputs["weights"].tolist() == [0.5 if weighted else 1.0] * 5 + [1.0] * 300 + [0.0] * 79
    assert [(places[0], places[-1]) for places in row.layout.places] == [(0, 4), (5, 304), (305, 383)]


@pytest.mark.parametrize(("kind", "checkpointing"), [("llama", False), ("qwen2", True), ("qwen3", False)])
def test_padded_rows_match_unpadded_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, checkpointing: bool
) -> None:
    """The code path of CUDA, which pads rows, without actual compilation."""
    save_tiny(tmp_path, kind)
    monkeypatch.setattr(torch, "compile", lambda plain, **_: plain)
    compare(tmp_path, checkpointing)


def test_compiled_passes_match_plain_passes(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks the traced graphs; with COA_TEST_FULL=1 also the generated CPU code, which takes most of a minute to build
    and is not what runs on CUDA."""
    if os.environ.get("COA_TEST_FULL") != "1":
        plain_compile: Any = torch.compile
        graphs = "aot_eager_decomp_partition"
        monkeypatch.setattr(torch, "compile", lambda plain, **_: plain_compile(plain, dynamic=False, backend=graphs))
    compare(tiny_folder, checkpointing=False)


def compare(folder: Path, checkpointing: bool) -> None:
    data = some_data()
    settings = AdamSettings(learning_rate=0.01, grad_clip_norm=1.0, weight_decay=0.1)
    ppo = [
        random_datum(len(each), len(each), logprobs=np.full(len(each), -5.0), advantages=np.ones(len(each)))
        for each in data
    ]
    sides = [
        full_model(bases_of(folder, compile=mode, checkpointing=checkpointing), PassOptions(100, checkpointing))
        for mode in ("on", "off")
    ]
    body = sides[0].learner._body
    assert body is not None
    assert body.compiler.on
    for loss, batch in ((CROSS, data), (Loss("ppo"), ppo), (CROSS, data)):
        fast, plain = (side.run(batch, loss, backward=True) for side in sides)
        assert fast.loss == pytest.approx(plain.loss, rel=1e-5)
        for one, other in zip(fast.logprobs, plain.logprobs, strict=True):
            assert np.abs(one - other).max() < 2e-5
        norms = [side.optimizer.update(settings) for side in sides]
        assert norms[0] == pytest.approx(norms[1], rel=1e-4)
    for name, weight in sides[1].optimizer.master.items():
        assert torch.allclose(sides[0].optimizer.master[name], weight, atol=1e-4), name
    # Compilation was not disabled along the way; that would have compared plain passes with plain ones.
    assert body.compiler.on


def test_failed_compilation_falls_back_to_eager_execution(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        def fail(*_: Any) -> Any:
            raise RuntimeError("no compiler here")

        return fail

    monkeypatch.setattr(torch, "compile", broken)
    compiler = Compiler("on")
    twice, thrice = compiler.compile(lambda x: 2 * x), compiler.compile(lambda x: 3 * x)
    assert (twice(2), thrice(2), twice(3)) == (4, 6, 6)
    assert not compiler.on
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "no compiler here" in caplog.text
