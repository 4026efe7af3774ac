"""Middleware for all requests: access checks and error responses."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from ..errors import TrainerError, bad_request
from . import columns, proto
from .http import error_response
from .loopback import is_loopback
from .worker import as_trainer_error

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

HEALTH = "/api/v1/healthz"
# Browsers send other content types cross-origin without a preflight request.
_TYPES = ("application/json", proto.CONTENT_TYPE, columns.CONTENT_TYPE)


def guard(key: str | None) -> Any:
    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            if key is None:
                _check_host(request)
            elif request.path != HEALTH:
                _check_key(request, key)
            if request.method == "POST":
                _check_type(request)
            return await handler(request)
        except TrainerError as error:
            return error_response(error)
        except web.HTTPRequestEntityTooLarge:
            return error_response(TrainerError(413, "The request is too large: send fewer examples per request."))
        except web.HTTPException as error:
            if error.status < 400:
                raise
            return error_response(TrainerError(error.status, f"{request.method} {request.path}: {error.reason}."))
        except (asyncio.CancelledError, ConnectionError):
            raise
        except Exception as error:
            return error_response(as_trainer_error(error))

    return middleware


def _check_key(request: web.Request, key: str) -> None:
    given = request.headers.get("X-API-Key") or request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not hmac.compare_digest(given.encode(), key.encode()):
        raise TrainerError(401, "Invalid API key: send the server's key as X-API-Key.")


def _check_host(request: web.Request) -> None:
    """Without a key, only programs on this machine may connect.

    A web page can point its own domain at 127.0.0.1 (DNS rebinding); its requests then carry that domain as Host.
    """
    given = request.headers.get("Host", "")
    name = given[1:].partition("]")[0] if given.startswith("[") else given.rpartition(":")[0] or given
    if not is_loopback(name):
        raise TrainerError(
            403, f"Host is {given[:80]!r}: without --key this server accepts only localhost and loopback addresses."
        )


def _check_type(request: web.Request) -> None:
    if request.headers.get("Content-Type") is None:
        raise bad_request("The request has no Content-Type: send JSON as application/json.")
    if request.content_type not in _TYPES:
        raise TrainerError(415, f"Content-Type {request.content_type} is not supported; send application/json.")
