"""The protobuf wire format, as far as needed: varints, fixed-width numbers and length-delimited bytes."""

import struct
from collections.abc import Iterator

from ..errors import bad_request

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

Field = tuple[int, int, int | bytes]


def _malformed() -> Exception:
    return bad_request("The body is not a valid protobuf message.")


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(data) or shift > 63:
            raise _malformed()
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7


def fields(data: bytes) -> Iterator[Field]:
    """Field number, wire type and value of each field."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        number, kind = tag >> 3, tag & 7
        value: int | bytes
        if kind == VARINT:
            value, position = _varint(data, position)
        elif kind in (FIXED64, BYTES, FIXED32):
            if kind == BYTES:
                size, position = _varint(data, position)
            else:
                size = 8 if kind == FIXED64 else 4
            value = data[position : position + size]
            if len(value) != size:
                raise _malformed()
            position += size
        else:
            raise _malformed()
        yield number, kind, value


def as_bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise _malformed()
    return value


def as_text(value: int | bytes) -> str:
    try:
        return as_bytes(value).decode()
    except UnicodeDecodeError:
        raise _malformed() from None


def as_double(value: int | bytes) -> float:
    data = as_bytes(value)
    if len(data) != 8:
        raise _malformed()
    number: float = struct.unpack("<d", data)[0]
    return number


def signed(value: int | bytes) -> int:
    if not isinstance(value, int):
        raise _malformed()
    return value - (1 << 64) if value >= 1 << 63 else value


def entry(data: bytes) -> tuple[str, int | bytes]:
    """Key and value of a map entry."""
    key = ""
    value: int | bytes = b""
    for number, _, found in fields(data):
        if number == 1:
            key = as_text(found)
        elif number == 2:
            value = found
    return key, value


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def put_bytes(number: int, value: bytes) -> bytes:
    return varint(number << 3 | BYTES) + varint(len(value)) + value


def put_text(number: int, value: str) -> bytes:
    return put_bytes(number, value.encode())


def put_varint(number: int, value: int) -> bytes:
    return varint(number << 3 | VARINT) + varint(value)


def put_double(number: int, value: float) -> bytes:
    return varint(number << 3 | FIXED64) + struct.pack("<d", value)
