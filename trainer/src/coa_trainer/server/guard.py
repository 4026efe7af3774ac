"""What holds for every request: who may ask, and that every failure is told as a sentence."""

import asyncio
import hmac
import ipaddress
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from ..errors import TrainerError, bad_request
from .http import refusal
from .proto import CONTENT_TYPE
from .worker import as_trainer_error

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

HEALTH = "/api/v1/healthz"
# A web page can send any other type of body to any server without asking that server first.
_TYPES = ("application/json", CONTENT_TYPE)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


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


def _check_host(request: web.Request) -> None:
    """Without a key, only programs on this machine may ask.

    A web page can point a name of its own at 127.0.0.1 (DNS rebinding); its requests then carry that name as Host.
    """
    given = request.headers.get("Host", "")
    name = given[1:].partition("]")[0] if given.startswith("[") else given.rpartition(":")[0] or given
    if not is_loopback(name):
        raise TrainerError(
            403, f"Host is {given[:80]!r}: without --key this server answers to localhost and 127.0.0.1 only."
        )


def _check_type(request: web.Request) -> None:
    if request.headers.get("Content-Type") is None:
        raise bad_request("The request has no Content-Type: send JSON as application/json.")
    if request.content_type not in _TYPES:
        raise TrainerError(415, f"Bodies of type {request.content_type} are not read; send application/json.")
