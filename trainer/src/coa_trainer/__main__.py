"""python -m coa_trainer --model FOLDER --data DIR"""

import os
import sys


def main() -> None:
    # Models are local folders; progress bars would clutter the log.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    from .errors import TrainerError
    from .options import parse_options

    # Before the slow imports, so that a wrong option is reported immediately.
    options = parse_options()
    # Kept with the data, so that the next start finds what this one compiled.
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(options.data / "compiled"))
    os.environ.setdefault("TRITON_CACHE_DIR", str(options.data / "compiled" / "triton"))
    from transformers.utils import logging as transformers_logging

    from .serve import run

    transformers_logging.disable_progress_bar()
    try:
        run(options)
    except TrainerError as error:
        sys.exit(error.detail)


if __name__ == "__main__":
    main()
