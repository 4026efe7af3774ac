"""Errors reported to clients."""


class TrainerError(Exception):
    """An expected failure: an HTTP status and one sentence that says what is wrong and how to fix it."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


def bad_request(detail: str) -> TrainerError:
    return TrainerError(400, detail)


def unknown(what: str, name: str) -> TrainerError:
    return TrainerError(404, f"Unknown {what}: {name}.")
