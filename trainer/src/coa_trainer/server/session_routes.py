"""Routes for sessions, samplers and server information: answered immediately."""

import asyncio
import resource
import uuid
from typing import Any

import torch
import transformers
from aiohttp import web

from .. import __version__
from ..errors import bad_request, unknown
from . import parse
from .http import json_response, read_json
from .service import Service


class SessionRoutes:
    def __init__(self, service: Service, limit: int) -> None:
        self._service = service
        self._limit = limit

    def add_to(self, app: web.Application) -> None:
        router = app.router
        router.add_get("/api/v1/healthz", self.healthz)
        router.add_get("/api/v1/coa/status", self.status)
        router.add_get("/api/v1/get_server_capabilities", self.capabilities)
        router.add_post("/api/v1/client/config", self.client_config)
        router.add_post("/api/v1/create_session", self.create_session)
        router.add_post("/api/v1/session_heartbeat", self.heartbeat)
        router.add_post("/api/v1/get_info", self.info)
        router.add_post("/api/v1/create_sampling_session", self.create_sampling_session)
        router.add_get("/api/v1/samplers/{id}", self.sampler)
        router.add_post("/api/v1/telemetry", self.telemetry)

    async def healthz(self, _: web.Request) -> web.Response:
        return json_response({"status": "ok"})

    async def capabilities(self, _: web.Request) -> web.Response:
        bases = self._service.executor.bases
        models = [
            {
                "model_name": name,
                "max_context_length": bases.context_length(name),
                "vocabulary_size": bases.vocabulary(name),
                "parameters": await asyncio.to_thread(bases.parameters, name),
                "trainable": True,
                "sampleable": True,
            }
            for name in bases.names
        ]
        return json_response({"supported_models": models, "coa": {"version": 4}})

    async def status(self, _: web.Request) -> web.Response:
        executor = self._service.executor
        options = executor.bases.options
        memory: dict[str, int] = {"rss_bytes": _resident_bytes()}
        if options.device.type == "cuda":
            memory["cuda_allocated_bytes"] = torch.cuda.memory_allocated(options.device)
            memory["cuda_reserved_bytes"] = torch.cuda.memory_reserved(options.device)
            memory["cuda_total_bytes"] = torch.cuda.get_device_properties(options.device).total_memory
        return json_response(
            {
                "device": str(options.device),
                "dtype": str(options.dtype).removeprefix("torch."),
                "memory": memory,
                "models": [
                    {"model_id": trained.id, "base_model": trained.weights.base, **trained.info}
                    for trained in list(executor.models.values())
                ],
                "queue": self._service.worker.waiting,
                "sequences": executor.sources.sequences(),
                "versions": {
                    "coa_trainer": __version__,
                    "torch": torch.__version__,
                    "transformers": transformers.__version__,
                },
            }
        )

    async def client_config(self, _: web.Request) -> web.Response:
        # Concurrent chunks could arrive out of order, and their sum would be rounded differently.
        return json_response({"pjwt_auth_enabled": False, "parallel_fwdbwd_chunks": False})

    async def create_session(self, request: web.Request) -> web.Response:
        body = await read_json(request, self._limit)
        session_id = uuid.uuid4().hex
        settings = {"tags": body.get("tags"), "user_metadata": body.get("user_metadata")}
        await asyncio.to_thread(self._service.database.add_session, session_id, settings)
        self._service.executor.activity.touch(session_id)
        return json_response({"type": "create_session", "session_id": session_id})

    async def heartbeat(self, request: web.Request) -> web.Response:
        body = await read_json(request, self._limit)
        session_id = parse.text(body.get("session_id"), "session_id")
        if not await asyncio.to_thread(self._service.database.has_session, session_id):
            raise unknown("session", session_id)
        self._service.executor.activity.touch(session_id)
        return json_response({"type": "session_heartbeat"})

    async def info(self, request: web.Request) -> web.Response:
        body = await read_json(request, self._limit)
        model_id = parse.text(body.get("model_id"), "model_id")
        self._service.check_model(model_id)
        settings = self._service.known[model_id]["settings"]
        trained = self._service.executor.models.get(model_id)
        rank = (settings.get("lora_config") or {}).get("rank", 32)
        result: dict[str, Any] = {
            "type": "get_info",
            "model_id": model_id,
            "model_name": settings["base_model"],
            "is_lora": rank > 0,
            "lora_rank": rank,
            "model_data": {"model_name": settings["base_model"], "tokenizer_id": settings["base_model"]},
        }
        if trained is not None:
            result["coa"] = trained.info
        return json_response(result)

    async def create_sampling_session(self, request: web.Request) -> web.Response:
        body = await read_json(request, self._limit)
        source: dict[str, Any] = {}
        executor = self._service.executor
        if body.get("model_path"):
            path = parse.text(body["model_path"], "model_path")
            await asyncio.to_thread(executor.folders.resolve, path)
            source["model_path"] = path
        if body.get("base_model"):
            source["base_model"] = executor.bases.find(parse.text(body["base_model"], "base_model"))
        if not source:
            raise bad_request("The request must name what to sample from: base_model or model_path.")
        sampler_id = uuid.uuid4().hex
        await asyncio.to_thread(self._service.database.add_sampler, sampler_id, source)
        return json_response({"type": "create_sampling_session", "sampling_session_id": sampler_id})

    async def sampler(self, request: web.Request) -> web.Response:
        sampler_id = request.match_info["id"]
        source = await asyncio.to_thread(self._service.database.sampler, sampler_id)
        if source is None:
            raise unknown("sampler", sampler_id)
        return json_response(
            {
                "sampler_id": sampler_id,
                "base_model": source.get("base_model"),
                "model_path": source.get("model_path"),
            }
        )

    async def telemetry(self, request: web.Request) -> web.Response:
        await request.read()
        return json_response({"status": "accepted"})


def _resident_bytes() -> int:
    """Current resident set size; the peak if the system does not report it."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
