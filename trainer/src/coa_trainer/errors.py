"""What a client is told when something goes wrong."""


class TrainerError(Exception):
    """A foreseen failure: an HTTP status, and one sentence of what is wrong and what to do."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


def bad_request(detail: str) -> TrainerError:
    return TrainerError(400, detail)


def unknown(what: str, name: str) -> TrainerError:
    return TrainerError(404, f"There is no {what} {name}.")
