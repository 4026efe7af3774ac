"""Routes for training runs, checkpoint files and uploads."""

import asyncio
import os
import shutil
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

from aiohttp import web

from ..errors import TrainerError, bad_request, unknown
from ..model.bases import UPLOAD
from ..model.checkpoint import ADAPTER_FILE
from ..model.read_checkpoint import read_adapter_config
from . import parse
from .http import json_response, read_json
from .loopback import is_loopback
from .paths import KINDS, check_name
from .service import Service
from .uploads import CHUNK, Uploads

_RUNS = "/api/v1/training_runs"


class CheckpointRoutes:
    def __init__(self, service: Service, uploads: Uploads, limit: int) -> None:
        self._service = service
        self._folders = service.executor.folders
        self._uploads = uploads
        self._limit = limit

    def add_to(self, app: web.Application) -> None:
        router = app.router
        name = "{name:(?:weights/|sampler_weights/)?[^/]+}"
        router.add_get(_RUNS, self.runs)
        router.add_get(_RUNS + "/{model}", self.run)
        router.add_get(_RUNS + "/{model}/checkpoints", self.checkpoints)
        router.add_get(_RUNS + f"/{{model}}/checkpoints/{name}/files", self.files)
        router.add_get(_RUNS + f"/{{model}}/checkpoints/{name}/files/{{file}}", self.file)
        router.add_get(_RUNS + f"/{{model}}/checkpoints/{name}/archive", self.archive)
        router.add_get(_RUNS + f"/{{model}}/checkpoints/{name}/download", self.download)
        router.add_delete(_RUNS + f"/{{model}}/checkpoints/{name}", self.delete)
        router.add_put("/api/v1/uploads/{upload}/{file}", self.upload)
        router.add_get("/api/v1/uploads/{upload}", self.uploaded)
        router.add_delete("/api/v1/uploads/{upload}", self.remove_upload)
        router.add_get("/api/v1/base_models/{base}/files", self.base_files)
        router.add_post("/api/v1/weights_info", self.weights_info)
        router.add_post("/api/v1/coa/folders", self.grant_folder)

    async def runs(self, request: web.Request) -> web.Response:
        try:
            limit, offset = int(request.query.get("limit", 20)), int(request.query.get("offset", 0))
        except ValueError:
            raise bad_request("limit and offset must be integers.") from None
        known = list(self._service.known.items())
        page = known[max(0, offset) :][: max(0, limit)]
        cursor = {"offset": offset, "limit": limit, "total_count": len(known)}
        return json_response({"training_runs": [_run(*each) for each in page], "cursor": cursor})

    async def run(self, request: web.Request) -> web.Response:
        model = request.match_info["model"]
        if model not in self._service.known:
            raise unknown("training run", model)
        return json_response(_run(model, self._service.known[model]))

    async def checkpoints(self, request: web.Request) -> web.Response:
        model = check_name(request.match_info["model"], "model")
        found = await asyncio.to_thread(self._list, model)
        return json_response({"checkpoints": found})

    def _list(self, model: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for kind, word in zip(KINDS, ("training", "sampler"), strict=True):
            for folder in sorted((self._folders.checkpoints / model / kind).glob("[!.]*")):
                found.append(
                    {
                        "checkpoint_id": f"{kind}/{folder.name}",
                        "checkpoint_type": word,
                        "time": _time(folder.stat().st_mtime),
                        "tinker_path": f"tinker://{model}/{kind}/{folder.name}",
                        "size_bytes": sum(path.stat().st_size for path in folder.iterdir()),
                    }
                )
        return found

    def _folder(self, request: web.Request) -> Path:
        return self._folders.find(request.match_info["model"], request.match_info["name"])

    async def files(self, request: web.Request) -> web.Response:
        folder = await asyncio.to_thread(self._folder, request)
        listed = [
            {"name": path.name, "bytes": path.stat().st_size} for path in sorted(folder.iterdir()) if path.is_file()
        ]
        return json_response({"files": listed})

    async def file(self, request: web.Request) -> web.StreamResponse:
        folder = await asyncio.to_thread(self._folder, request)
        path = folder / check_name(request.match_info["file"], "file")
        if not path.is_file():
            raise unknown("file", path.name)
        return web.FileResponse(path, chunk_size=CHUNK)

    async def archive(self, request: web.Request) -> web.Response:
        await asyncio.to_thread(self._folder, request)
        raise web.HTTPFound(request.path.removesuffix("archive") + "download")

    async def download(self, request: web.Request) -> web.StreamResponse:
        folder = await asyncio.to_thread(self._folder, request)
        path = await asyncio.to_thread(_packed, folder)
        response = web.FileResponse(path, headers={"Content-Type": "application/gzip"})
        try:
            await response.prepare(request)
            await response.write_eof()
        finally:
            path.unlink(missing_ok=True)
        return response

    async def delete(self, request: web.Request) -> web.Response:
        folder = await asyncio.to_thread(self._folder, request)
        await asyncio.to_thread(shutil.rmtree, folder)
        return web.Response(status=204)

    async def upload(self, request: web.Request) -> web.Response:
        name = request.match_info["file"]
        upload, announced = request.match_info["upload"], request.content_length or 0
        chunks = request.content.iter_any()
        if "of" not in request.query:
            size = await self._uploads.write(upload, name, chunks, announced)
            return json_response({"name": name, "bytes": size})
        try:
            start, total = int(request.query["from"]), int(request.query["of"])
        except (KeyError, ValueError):
            raise bad_request("from and of must be integers.") from None
        size = await self._uploads.write_piece(upload, name, chunks, announced, start, total)
        return json_response({"name": name, "bytes": size})

    async def uploaded(self, request: web.Request) -> web.Response:
        return json_response({"files": await asyncio.to_thread(self._uploads.files, request.match_info["upload"])})

    async def remove_upload(self, request: web.Request) -> web.Response:
        await self._uploads.remove(request.match_info["upload"], self._service.bases_in_use(UPLOAD))
        return web.Response(status=204)

    async def base_files(self, request: web.Request) -> web.Response:
        bases = self._service.executor.bases
        name = bases.find(request.match_info["base"])
        return json_response({"files": await asyncio.to_thread(bases.weight_files, name)})

    async def grant_folder(self, request: web.Request) -> web.Response:
        """Lets a client of the same user on this machine name one of its folders."""
        if not is_loopback(request.remote or ""):
            raise TrainerError(403, "Folders can be used only by clients on the same machine.")
        body = await read_json(request, self._limit)
        proof, digest = parse.text(body.get("proof"), "proof"), parse.text(body.get("sha256"), "sha256")
        name, token = await asyncio.to_thread(self._folders.granted.grant, proof, digest)
        return json_response({"folder": name, "token": token})

    async def weights_info(self, request: web.Request) -> web.Response:
        body = await read_json(request, self._limit)
        path = parse.text(body.get("tinker_path"), "tinker_path")
        folder = await asyncio.to_thread(self._folders.resolve, path)
        base = self._service.executor.base_of(path, body)
        if (folder / ADAPTER_FILE).is_file():
            rank, _, _ = read_adapter_config(folder)
            return json_response({"base_model": base, "is_lora": True, "lora_rank": rank})
        return json_response({"base_model": base, "is_lora": False, "lora_rank": None})


def _run(model: str, known: dict[str, Any]) -> dict[str, Any]:
    rank = (known["settings"].get("lora_config") or {}).get("rank", 32)
    return {
        "training_run_id": model,
        "base_model": known["settings"]["base_model"],
        "model_owner": "local",
        "is_lora": rank > 0,
        "lora_rank": rank,
        "corrupted": known["state"] == "lost",
        "last_request_time": _time(known["created"]),
    }


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _packed(folder: Path) -> Path:
    descriptor, name = tempfile.mkstemp(".tar.gz", ".", folder.parent)
    with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, arcname=path.name)
    return Path(name)
