"""A server that hangs in one operation, so that it can be killed there."""

import sys
import time
from pathlib import Path
from typing import Any


def main() -> None:
    slow, reached = sys.argv[1], Path(sys.argv[2])
    del sys.argv[1:3]
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
    from coa_trainer.__main__ import main as serve

    serve()


main()
