"""Server processes that can be killed."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from live import Client

# What the server imports takes far longer than what is tested here, so it is imported once and servers are forked.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["coa_trainer.serve", "transformers.models.llama.modeling_llama", "processes"])


class Process:
    """A server process. `slow` names the operation it hangs in; it creates the file `reached` when it gets there."""

    def __init__(self, model: Path, data: Path, slow: str = "", reached: Path | None = None) -> None:
        # Read when the first process is forked.
        os.environ.update(_environment())
        receiver, sender = FORKS.Pipe(duplex=False)
        self.process: BaseProcess = FORKS.Process(
            target=_serve, args=(_options(model, data), sender, slow, str(reached))
        )
        self.process.start()
        sender.close()
        with os.fdopen(os.dup(receiver.fileno())) as lines:
            self.ready = json.loads(lines.readline())
        self._output = receiver
        self.client = Client(self.ready["url"])

    def kill(self) -> None:
        self.process.kill()
        self.process.join()

    def end(self) -> int | None:
        os.kill(self.ready["pid"], signal.SIGTERM)
        self.process.join(60)
        return self.process.exitcode


class Program:
    """A server started from the command line, with one or more ranks."""

    def __init__(self, model: Path, data: Path, ranks: int = 1) -> None:
        many = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
        command = [sys.executable, *(many if ranks > 1 else []), "-m", "coa_trainer", *_options(model, data)]
        self.ranks = ranks
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | _environment()
        )
        assert self.process.stdout is not None
        self.ready = json.loads(self.process.stdout.readline())
        self.client = Client(self.ready["url"])

    def kill(self) -> None:
        # The launcher of several processes ends them when it is terminated; killed, it would leave them behind.
        (self.process.terminate if self.ranks > 1 else self.process.kill)()
        self.process.communicate()

    def end(self) -> int:
        # Rank 0, which stops the other ranks.
        os.kill(self.ready["pid"], signal.SIGTERM)
        self.process.communicate(timeout=600)
        return self.process.returncode


def wait_for(path: Path) -> None:
    for _ in range(12_000):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} was not created in time")


def _options(model: Path, data: Path) -> list[str]:
    return ["--model", f"tiny={model}", "--data", str(data), "--port", "0", "--poll-seconds", "2"]


def _environment() -> dict[str, str]:
    here = Path(__file__).parent
    return {"PYTHONPATH": f"{here.parent / 'src'}:{here}", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


def _serve(options: list[str], output: Connection, slow: str, reached: str) -> None:
    os.dup2(output.fileno(), 1)
    sys.argv[1:] = options
    _hang_in(slow, Path(reached))
    from coa_trainer.__main__ import main

    main()


def _hang_in(slow: str, reached: Path) -> None:
    from coa_trainer.model import checkpoint
    from coa_trainer.model.adamw import AdamW
    from coa_trainer.model.trained import TrainedModel

    def hang(*_: Any, **__: Any) -> Any:
        reached.write_text("here")
        time.sleep(600)

    if slow == "step":
        AdamW.write_back = hang  # type: ignore[method-assign]
    elif slow == "save":
        checkpoint.write_tensors = hang  # type: ignore[attr-defined]
    elif slow == "forward":
        TrainedModel.run = hang  # type: ignore[method-assign]
