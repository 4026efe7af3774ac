import json
import os
from pathlib import Path
from typing import Any

import pytest

# Without a GPU, kernels run in Triton's interpreter. Triton reads this variable once, and torch may import it.
if not Path("/dev/nvidiactl").exists():
    os.environ["TRITON_INTERPRET"] = "1"

import torch

from tiny import save_tiny


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    save_tiny(folder)
    return folder


@pytest.fixture(autouse=True)
def _single_thread() -> None:
    torch.set_num_threads(1)


def read_json(path: Path) -> Any:
    return json.loads(path.read_text())
