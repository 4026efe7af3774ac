"""Routes that return a future, and the one that retrieves it."""

import asyncio
import json
import time
import uuid
from collections.abc import Callable
from typing import Any

from aiohttp import web

from ..errors import TrainerError, bad_request
from . import column_messages, columns, parse, proto
from .http import error_response, json_response, parse_object, read_bytes, read_json
from .json_text import to_json
from .service import COLUMN_BODY, JSON_BODY, PROTO_BODY, Service

Line = dict[str, Any]


class FutureRoutes:
    def __init__(self, service: Service, limit: int, poll_seconds: float) -> None:
        self._service = service
        self._limit = limit
        self._poll_seconds = poll_seconds

    def add_to(self, app: web.Application) -> None:
        router = app.router
        router.add_post("/api/v1/create_model", self.create_model)
        router.add_post("/api/v1/asample", self.sample)
        router.add_post("/api/v1/retrieve_future", self.retrieve)
        router.add_post("/api/v1/forward_backward", self.training)
        router.add_post("/api/v1/forward", self.training)
        for name in (
            "optim_step",
            "save_weights",
            "save_weights_for_sampler",
            "load_weights",
            "unload_model",
        ):
            router.add_post(f"/api/v1/{name}", self.training)

    async def _future(self, kind: str, stored: bytes, key: str | None, model: str | None, **more: Any) -> web.Response:
        future_id = await asyncio.to_thread(self._service.submit, kind, stored, key, model)
        return _pending(future_id, **more)

    async def training(self, request: web.Request) -> web.Response:
        kind = request.path.rsplit("/", 1)[-1]
        data = await read_bytes(request, self._limit)
        if request.content_type == proto.CONTENT_TYPE:
            if kind not in ("forward", "forward_backward"):
                raise bad_request(f"{kind} accepts only JSON.")
            model_id, sequence, only = await asyncio.to_thread(proto.read_header, data)
            kind = "forward" if only else kind
            stored = PROTO_BODY + data
            seq_id: Any = sequence
        elif request.content_type == columns.CONTENT_TYPE:
            if kind not in ("forward", "forward_backward"):
                raise bad_request(f"{kind} accepts only JSON.")
            header = columns.decode(data).header
            model_id = parse.text(header.get("model_id"), "model_id")
            seq_id = header.get("seq_id")
            stored = COLUMN_BODY + data
        else:
            body = await asyncio.to_thread(parse_object, data)
            model_id = parse.text(body.get("model_id"), "model_id")
            seq_id = body.get("seq_id")
            stored = JSON_BODY + data
        self._service.check_model(model_id)
        key = None if seq_id is None else f"{model_id} seq_id {parse.integer(seq_id, 'seq_id', -(2**31), 2**62)}"
        return await self._future(kind, stored, key, model_id, model_id=model_id)

    async def create_model(self, request: web.Request) -> web.Response:
        body = await read_json(request, self._limit)
        service = self._service
        base = service.executor.bases.find(parse.text(body.get("base_model"), "base_model"))
        parse.lora_settings(body.get("lora_config"))
        key = None
        if body.get("model_seq_id") is not None:
            key = f"session {body.get('session_id')} model_seq_id {body['model_seq_id']}"
        public_settings = {"base_model": base, "lora_config": body.get("lora_config") or {}}
        settings = {**public_settings, "session_id": body.get("session_id")}
        # The id is derived from the key, so that a repeated request names the same model.
        name = uuid.uuid5(uuid.NAMESPACE_OID, key).hex if key else uuid.uuid4().hex
        stored = JSON_BODY + to_json({"model_id": name, **public_settings})
        service.executor.activity.touch(name)
        await asyncio.to_thread(service.database.add_model, name, settings)
        if name not in service.known:
            service.known[name] = {
                "settings": settings,
                "state": "live",
                "same_as": None,
                "created": time.time(),
            }
        return await self._future("create_model", stored, key, name, model_id=name, **public_settings)

    async def sample(self, request: web.Request) -> web.StreamResponse:
        data = await read_bytes(request, self._limit)
        is_columns = request.content_type == columns.CONTENT_TYPE
        if is_columns:
            body = column_messages.sample_body(columns.decode(data))
        else:
            body = await asyncio.to_thread(parse_object, data)
        model = body.get("model_id")
        if isinstance(model, str):
            self._service.check_model(model)
        if body.get("stream"):
            encode = column_messages.stream_line if is_columns else _json_line
            return await self._stream(request, body, encode)
        if is_columns:
            return await self._sampled(body)
        key = None
        session, sequence = body.get("sampling_session_id"), body.get("seq_id")
        if session is not None and sequence is not None:
            key = f"sampling session {session} seq_id {sequence}"
        owner = model if isinstance(model, str) else None
        future_id = await asyncio.to_thread(self._service.submit, "asample", JSON_BODY + data, key, owner)
        count = body.get("num_samples")
        named = min(count, parse.MAX_SAMPLES) if isinstance(count, int) else 1
        # Newer clients expect an id for each sequence.
        return _pending(future_id, sample_sequence_ids=[f"{future_id}-{number}" for number in range(named)])

    async def _sampled(self, body: dict[str, Any]) -> web.Response:
        """The response is the result, sent when it is complete. A client that disconnects cancels the sampling."""
        lines: asyncio.Queue[Line | None] = asyncio.Queue()
        batch = self._service.stream({**body, "stream": "end"}, lines.put_nowait)
        try:
            line = await lines.get()
        finally:
            batch.cancelled = True
        assert line is not None
        if "error" in line:
            return error_response(TrainerError(**line["error"]))
        return web.Response(body=column_messages.sample_result(line["result"]), content_type=columns.CONTENT_TYPE)

    async def _stream(
        self, request: web.Request, body: dict[str, Any], encode: Callable[[Line], bytes]
    ) -> web.StreamResponse:
        lines: asyncio.Queue[Line | None] = asyncio.Queue()
        batch = self._service.stream(body, lines.put_nowait)
        kind = "application/x-ndjson" if encode is _json_line else columns.CONTENT_TYPE
        response = web.StreamResponse(headers={"Content-Type": kind})
        try:
            await response.prepare(request)
            while (line := await lines.get()) is not None:
                await response.write(encode(line))
            await response.write_eof()
        finally:
            batch.cancelled = True
        return response

    async def retrieve(self, request: web.Request) -> web.Response:
        body = await read_json(request, self._limit)
        future_id = parse.text(body.get("request_id") or body.get("future_id"), "request_id")
        future = await self._service.wait(future_id, self._poll_seconds)
        if future.result is None or future.status is None:
            again = {"type": "try_again", "request_id": future_id, "queue_state": "active"}
            return json_response(again, 408)
        if future.result.startswith(columns.MAGIC):
            return web.Response(body=future.result, content_type=columns.CONTENT_TYPE)
        if future.status == 200 and proto.CONTENT_TYPE in request.headers.get("Accept", ""):
            packed = await asyncio.to_thread(lambda: proto.encode_result(json.loads(future.result or b"{}")))
            if packed is not None:
                return web.Response(body=packed, content_type=proto.CONTENT_TYPE)
        if future.status not in (200, 410) and "X-Tinker-Request-Type" in request.headers:
            # The public SDK retries forever after a 5xx; this is how it learns that a request failed.
            category = "user" if future.status < 500 else "server"
            return json_response({"error": json.loads(future.result)["detail"], "category": category})
        return web.Response(body=future.result, status=future.status, content_type="application/json")


def _json_line(line: Line) -> bytes:
    return to_json(line) + b"\n"


def _pending(future_id: str, **more: Any) -> web.Response:
    return json_response({"request_id": future_id, "future_id": future_id, "status": "pending", **more})
