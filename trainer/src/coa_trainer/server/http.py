"""Reading bodies and writing answers, and what holds for every request."""

import asyncio
import hmac
import json
import logging
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from ..errors import TrainerError, bad_request
from .json_text import to_json
from .worker import as_trainer_error

log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def answer(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=to_json(value), status=status, content_type="application/json")


def refusal(error: TrainerError) -> web.Response:
    return answer({"detail": error.detail}, error.status)


def guard(key: str | None) -> Any:
    """Checks the key and turns failures into sentences."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            if key is not None and not request.path.endswith("/healthz"):
                _check_key(request, key)
            return await handler(request)
        except TrainerError as error:
            return refusal(error)
        except web.HTTPRequestEntityTooLarge:
            return refusal(TrainerError(413, "The request is too large: send fewer examples at once."))
        except web.HTTPException as error:
            if error.status < 400:
                raise
            return refusal(TrainerError(error.status, f"{request.method} {request.path}: {error.reason}."))
        except (asyncio.CancelledError, ConnectionError):
            raise
        except Exception as error:
            return refusal(as_trainer_error(error))

    return middleware


def _check_key(request: web.Request, key: str) -> None:
    given = request.headers.get("X-API-Key") or request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not hmac.compare_digest(given.encode(), key.encode()):
        raise TrainerError(401, "The key is wrong: send the server's key as X-API-Key.")


async def read_bytes(request: web.Request, limit: int) -> bytes:
    data = await request.read()
    encoding = request.headers.get("Content-Encoding", "identity").lower()
    if encoding == "identity":
        return data
    return await asyncio.to_thread(_decompress, data, encoding, limit)


def _decompress(data: bytes, encoding: str, limit: int) -> bytes:
    try:
        if encoding == "gzip":
            inflater = zlib.decompressobj(wbits=31)
            plain = inflater.decompress(data, limit + 1)
        elif encoding == "zstd":
            plain = _unzstd(data, limit)
        else:
            raise TrainerError(415, f"Bodies packed with {encoding} cannot be read here; send them plain.")
    except zlib.error:
        raise bad_request("The body is not gzip.") from None
    if len(plain) > limit:
        raise TrainerError(413, "The request is too large: send fewer examples at once.")
    return plain


def _unzstd(data: bytes, limit: int) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise TrainerError(
            415, "Bodies packed with zstd need the package zstandard on the server; send them plain."
        ) from None
    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as reader:
            plain: bytes = reader.read(limit + 1)
            return plain
    except zstandard.ZstdError:
        raise bad_request("The body is not zstd.") from None


async def read_json(request: web.Request, limit: int) -> dict[str, Any]:
    data = await read_bytes(request, limit)
    return await asyncio.to_thread(parse_object, data)


def parse_object(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        raise bad_request("The body is not JSON.") from None
    if not isinstance(value, dict):
        raise bad_request("The body must be a JSON object.")
    return value
