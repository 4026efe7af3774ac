"""Reads request bodies and writes responses."""

import asyncio
import json
import zlib
from typing import Any

from aiohttp import web

from ..errors import TrainerError, bad_request
from .json_text import to_json

# Parsed JSON can take thirty times the memory of its text: "[]," is 3 bytes and becomes 80. So structural characters
# are counted before parsing. These limits admit every mostly numeric request within the default --body-limit and keep
# the parsed size near 1 GiB.
_MOST = {b",": 32 << 20, b"[": 1 << 20, b"{": 1 << 20, b":": 1 << 20, b'"': 4 << 20}


def json_response(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=to_json(value), status=status, content_type="application/json")


def error_response(error: TrainerError) -> web.Response:
    return json_response({"detail": error.detail}, error.status)


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
            raise TrainerError(415, f"Content-Encoding {encoding} is not supported; send the body uncompressed.")
    except zlib.error:
        raise bad_request("The body is not valid gzip.") from None
    if len(plain) > limit:
        raise TrainerError(413, "The request is too large: send fewer examples per request.")
    return plain


def _unzstd(data: bytes, limit: int) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise TrainerError(415, "zstd needs the package zstandard on the server; send the body uncompressed.") from None
    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as reader:
            plain: bytes = reader.read(limit + 1)
            return plain
    except zstandard.ZstdError:
        raise bad_request("The body is not valid zstd.") from None


async def read_json(request: web.Request, limit: int) -> dict[str, Any]:
    data = await read_bytes(request, limit)
    return await asyncio.to_thread(parse_object, data)


def parse_object(data: bytes) -> dict[str, Any]:
    for sign, most in _MOST.items():
        if data.count(sign) > most:
            raise TrainerError(
                413, f"The request has more than {most} {sign.decode()!r}: send fewer examples per request."
            )
    try:
        value = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        raise bad_request("The body is not valid JSON.") from None
    if not isinstance(value, dict):
        raise bad_request("The body must be a JSON object.")
    return value
