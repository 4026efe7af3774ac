"""A client, and servers in a thread of this process, so that parts can be patched."""

import asyncio
import contextlib
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aiohttp import web

from coa_trainer.options import parse_options
from coa_trainer.serve import make_app, make_service
from coa_trainer.server.service import Service


class ServerError(Exception):
    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.detail = detail


class Client:
    def __init__(self, url: str, key: str | None = None) -> None:
        self.url = url.removesuffix("/") + "/api/v1"
        self.headers = {"Content-Type": "application/json"}
        if key is not None:
            self.headers["X-API-Key"] = key

    def send(self, method: str, path: str, data: bytes | None = None, **headers: str) -> bytes:
        request = urllib.request.Request(
            self.url + path,
            data,
            {**self.headers, **{k.replace("_", "-"): v for k, v in headers.items()}},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=600) as response:
                content: bytes = response.read()
                return content
        except urllib.error.HTTPError as error:
            body = error.read()
            detail = body.decode(errors="replace")
            with contextlib.suppress(ValueError, AttributeError):
                detail = json.loads(body).get("detail", detail)
            raise ServerError(error.code, detail) from None

    def get(self, path: str) -> Any:
        return json.loads(self.send("GET", path))

    def post(self, path: str, body: Any) -> Any:
        return json.loads(self.send("POST", path, json.dumps(body).encode()))

    def result(self, future: str) -> Any:
        while True:
            try:
                return self.post("/retrieve_future", {"request_id": future})
            except ServerError as error:
                if error.status != 408:
                    raise

    def call(self, path: str, body: Any) -> Any:
        return self.result(self.post(path, body)["request_id"])

    # Short forms

    def create(self, rank: int = 0, **others: Any) -> str:
        body = {"base_model": "tiny", "lora_config": {"rank": rank}, **others}
        model: str = self.call("/create_model", body)["model_id"]
        return model

    def learn(self, model: str, data: list[dict[str, Any]], loss: str = "cross_entropy", **others: Any) -> Any:
        content = {"data": data, "loss_fn": loss}
        return self.call("/forward_backward", {"model_id": model, "forward_backward_input": content, **others})

    def forward(self, model: str, data: list[dict[str, Any]]) -> float:
        content = {"data": data, "loss_fn": "cross_entropy"}
        result = self.call("/forward", {"model_id": model, "forward_input": content})
        loss: float = result["metrics"]["loss:sum"]
        return loss

    def step(self, model: str, rate: float = 0.01, **others: Any) -> Any:
        return self.call("/optim_step", {"model_id": model, "adam_params": {"learning_rate": rate}, **others})


def chunks(tokens: list[int]) -> dict[str, Any]:
    return {"chunks": [{"type": "encoded_text", "tokens": tokens}]}


def datum(text: bytes = b"some text to be learned", **inputs: list[float | None]) -> dict[str, Any]:
    tokens = list(text)
    tensors: dict[str, Any] = {name: {"data": values, "dtype": "float32"} for name, values in inputs.items()}
    tensors["target_tokens"] = {"data": tokens[1:], "dtype": "int64"}
    return {"model_input": chunks(tokens[:-1]), "loss_fn_inputs": tensors}


PROMPT = list(b"A prompt of bytes, long enough to be shared.")


def sample(client: Client, prompt: list[int] = PROMPT, samples: int = 1, **body: Any) -> list[dict[str, Any]]:
    source: dict[str, Any] = {
        name: body.pop(name) for name in ("model_id", "base_model", "model_path", "sampling_session_id") if name in body
    }
    params = {"max_tokens": 8, "seed": 1, **body}
    request: dict[str, Any] = {"prompt": chunks(prompt), "sampling_params": params, "num_samples": samples, **source}
    sequences: list[dict[str, Any]] = client.call("/asample", request)["sequences"]
    return sequences


@contextlib.contextmanager
def server(model: Path, data: Path, *more: str, key: str | None = None) -> Iterator[Client]:
    with server_and_service(model, data, *more, key=key) as (client, _):
        yield client


@contextlib.contextmanager
def server_and_service(model: Path, data: Path, *more: str, key: str | None = None) -> Iterator[tuple[Client, Service]]:
    """A server in a thread of this process."""
    arguments = ["--model", f"tiny={model}", "--data", str(data), "--port", "0", "--poll-seconds", "5", *more]
    options = parse_options([*arguments, *(["--key", key] if key else [])])
    service = make_service(options)
    loop = asyncio.new_event_loop()
    started: list[str] = []
    ready = threading.Event()

    async def main() -> None:
        service.start(loop)
        app = make_app(service, options)
        runner = web.AppRunner(app, auto_decompress=False, handler_cancellation=True, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        started.append(f"http://127.0.0.1:{runner.addresses[0][1]}")
        ready.set()
        await ended.wait()
        await runner.cleanup()

    ended = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(main()))
    thread.start()
    ready.wait()
    try:
        yield Client(started[0], key), service
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        service.close()
        service.database.close()
        loop.close()
