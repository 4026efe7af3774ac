"""Connects HTTP and the worker: takes requests and completes futures."""

import asyncio
import concurrent.futures
import hashlib
import json
import logging
import uuid
from collections.abc import Callable
from typing import Any

from ..errors import TrainerError, unknown
from ..sampling.job import Batch
from . import parse
from .background_saves import Later
from .columns import decode
from .database import Future
from .executor import Executor, Result
from .json_text import to_json
from .proto import decode_pass_request
from .worker import Worker, as_trainer_error

log = logging.getLogger(__name__)

# The first byte of a stored body is its encoding.
JSON_BODY, PROTO_BODY, COLUMN_BODY = b"j", b"p", b"c"
# Expired results are deleted after this many new ones.
CLEANED_EVERY = 1000


class Service:
    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.database = executor.database
        self.worker = Worker(executor.sources)
        executor.sources.should_yield = lambda: self.worker.waiting > 0
        self._events: dict[str, asyncio.Event] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._finished = 0
        # Models known before the worker gets to them.
        self.known = self.database.models()
        # Read before new requests can arrive.
        self._left_models = self.database.models()
        self._left_futures = self.database.unfinished()

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.worker.submit(self._recover)
        self.worker.start()

    def park_idle(self, seconds: float) -> None:
        """Queued for the worker; a client that returns before its turn keeps its model loaded."""

        def park() -> None:
            for model_id in self.executor.park_idle(seconds):
                log.info("model %s was saved and unloaded: its client is inactive", model_id)

        self.worker.submit(park)

    def bases_in_use(self, scheme: str) -> set[str]:
        """Clients' models that loaded or restorable models were created from."""
        made = [known for known in self.known.values() if known["state"] in ("live", "parked")]
        bases = [str(known["settings"]["base_model"]) for known in made]
        return {base.removeprefix(scheme) for base in bases if base.startswith(scheme)}

    # Requests

    def check_model(self, model_id: str) -> None:
        known = self.known.get(model_id)
        if known is None or known["state"] == "unloaded":
            raise unknown("model", model_id)
        if known["state"] == "lost":
            raise TrainerError(
                410,
                f"Model {model_id} was lost when the server stopped: create a model and load its last checkpoint.",
            )

    def submit(self, kind: str, body: bytes, key: str | None, model: str | None) -> str:
        """Returns the future's id; a repeated request gets the original future."""
        digest = hashlib.sha256(kind.encode() + b"\0" + body).hexdigest()
        future_id, new = self.database.add_future(uuid.uuid4().hex, key, kind, model, body, digest)
        if new:
            self.worker.submit(lambda: self._work(future_id, kind, body))
        return future_id

    def _work(self, future_id: str, kind: str, stored: bytes) -> None:
        try:
            self.database.begin(future_id)
            body = read_body(stored)
            if isinstance(body.get("model_id"), str) and kind != "create_model":
                # It may have been lost or unloaded since the request was queued.
                self.check_model(body["model_id"])
            if kind == "asample":
                self._start_sampling(future_id, body)
                return
            result = self.executor.run(kind, body)
            if isinstance(result, concurrent.futures.Future):
                result.add_done_callback(lambda done: self._finish_later(future_id, done))
                return
            if kind == "unload_model":
                self.known = self.database.models()
            self._finish(future_id, 200, result)
        except Exception as error:
            self._fail(future_id, error)
            if kind == "create_model":
                self.database.set_model_state(str(body.get("model_id")), "unloaded")
                self.known = self.database.models()

    def _finish_later(self, future_id: str, done: Later) -> None:
        error = done.exception()
        if error is None:
            self._finish(future_id, 200, done.result())
        else:
            self._fail(future_id, error)

    def close(self) -> None:
        """Ends the worker, and completes a checkpoint that is being written."""
        self.worker.close()
        self.executor.saves.close()

    def _start_sampling(self, future_id: str, body: dict[str, Any]) -> None:
        make: Callable[[list[Any]], dict[str, Any]]
        batch = Batch(
            finished=lambda sequences: self._finish(future_id, 200, make(sequences)),
            failed=lambda error: self._fail(future_id, error),
        )
        make = self.executor.sample(body, batch)

    def _fail(self, future_id: str, error: BaseException) -> None:
        failure = as_trainer_error(error)
        log.info("future %s failed: %s", future_id, failure.detail)
        self._finish(future_id, failure.status, {"detail": failure.detail})

    def _finish(self, future_id: str, status: int, result: Result) -> None:
        self.database.finish(future_id, status, result if isinstance(result, bytes) else to_json(result))
        self._finished += 1
        if self._finished % CLEANED_EVERY == 0:
            self.database.delete_expired()
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._announce, future_id)

    def _announce(self, future_id: str) -> None:
        event = self._events.pop(future_id, None)
        if event is not None:
            event.set()

    async def wait(self, future_id: str, seconds: float) -> Future:
        """The future once it has finished, or as it is after the timeout."""
        event = self._events.setdefault(future_id, asyncio.Event())
        future = await asyncio.to_thread(self.database.future, future_id)
        if future is None:
            self._events.pop(future_id, None)
            raise TrainerError(404, f"Unknown future {future_id[:80]}; results are kept for a day.")
        if future.state in ("done", "failed"):
            self._events.pop(future_id, None)
            return future
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return future
        return await asyncio.to_thread(self.database.future, future_id) or future

    # Streaming

    def stream(self, body: dict[str, Any], deliver: Callable[[dict[str, Any] | None], None]) -> Batch:
        """`deliver` gets each line in the event loop's thread, and None at the end.

        A client that only wants the result leaves the sampler free to sample many tokens between host synchronizations.
        """
        loop = self._loop
        assert loop is not None

        def send(line: dict[str, Any] | None) -> None:
            loop.call_soon_threadsafe(deliver, line)

        def fail(error: BaseException) -> None:
            failure = as_trainer_error(error)
            send({"error": {"status": failure.status, "detail": failure.detail}})
            send(None)

        make: Callable[[list[Any]], dict[str, Any]]

        def finish(sequences: list[Any]) -> None:
            send({"result": make(sequences)})
            send(None)

        def start() -> None:
            nonlocal make
            try:
                make = self.executor.sample(body, batch)
            except Exception as error:
                batch.fail(error)

        def send_token(number: int, token: int) -> None:
            send({"sequence": number, "token": token})

        batch = Batch(finish, fail, None if body["stream"] == "end" else send_token)
        self.worker.submit(start)
        return batch

    # After a restart

    def _recover(self) -> None:
        self.executor.clean_folders()
        self.database.delete_expired()
        self._restore_models()
        for future in self._left_futures:
            self._resume(future)

    def _restore_models(self) -> None:
        """Models whose state is saved are loaded with their next request: their clients may be gone."""
        created = {future.model for future in self._left_futures if future.kind == "create_model"}
        for model_id, known in self._left_models.items():
            if known["state"] != "live" or model_id in created:
                continue
            if known["same_as"]:
                self.database.set_model_state(model_id, "parked")
            else:
                log.warning("model %s is lost: its last state was not saved", model_id)
                self.database.set_model_state(model_id, "lost")
        self.known = self.database.models()

    def _resume(self, future: Future) -> None:
        """Runs requests that had not started. Sampling and forward passes change nothing, so they are always run."""
        lost = future.model is not None and self.known.get(future.model, {}).get("state") == "lost"
        started = future.state == "running" and future.kind not in ("asample", "create_model", "forward")
        if lost or started or future.body is None:
            reason = "its model was lost" if lost else "the request was already running"
            detail = (
                f"The server restarted and {reason}: create a model, load the last checkpoint and continue from there."
            )
            self._finish(future.id, 410, {"detail": detail})
            return
        body = future.body
        self.worker.submit(lambda: self._work(future.id, future.kind, body))


def read_body(stored: bytes) -> dict[str, Any]:
    if stored[:1] == PROTO_BODY:
        return decode_pass_request(stored[1:])
    if stored[:1] == COLUMN_BODY:
        message = decode(stored[1:])
        return {**message.header, "message": message}
    try:
        return parse.mapping(json.loads(stored[1:]), "the body")
    except (ValueError, RecursionError):
        raise TrainerError(400, "The body is not valid JSON.") from None
