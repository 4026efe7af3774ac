"""python -m coa_trainer --model FOLDER --data DIR"""

import os
import sys


def main() -> None:
    # Models come from local folders; progress bars would mix with the log.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    from .errors import TrainerError
    from .options import parse_options

    # Before what takes seconds to load, so that a mistake is told at once.
    options = parse_options()
    from transformers.utils import logging as transformers_logging

    from .serve import run

    transformers_logging.disable_progress_bar()
    try:
        run(options)
    except TrainerError as error:
        sys.exit(error.detail)


if __name__ == "__main__":
    main()
