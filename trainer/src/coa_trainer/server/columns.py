"""Binary messages: a JSON header and named columns of numbers, so that no token is ever a JSON number.

Bytes 0 to 3 are "COA1"; then two unsigned 32-bit integers, the sizes of the header and of all columns; then the header,
padded with spaces to a multiple of four bytes; then the columns in the order in which the header's `columns` lists them
as [name, type, length], each padded to a multiple of four bytes. Numbers are little-endian.
"""

import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import TrainerError, bad_request

CONTENT_TYPE = "application/x-coa-columns"
MAGIC = b"COA1"

Column = np.ndarray[Any, Any]

_TYPES: dict[str, np.dtype[Any]] = {"int32": np.dtype("<i4"), "float32": np.dtype("<f4"), "uint8": np.dtype("u1")}
_PREAMBLE = struct.Struct("<4sII")
# Names, settings and stop strings; anything longer belongs in a column.
_MAX_HEADER = 1 << 20
_MAX_COLUMNS = 64


@dataclass(frozen=True)
class Message:
    header: dict[str, Any]
    columns: dict[str, Column]

    def column(self, name: str, kind: str) -> Column:
        found = self.columns.get(name)
        if found is None or found.dtype != _TYPES[kind]:
            raise bad_request(f"The message has no column {name} of type {kind}.")
        return found


def encode(header: Mapping[str, Any], columns: Mapping[str, tuple[str, Iterable[Any]]]) -> bytes:
    """Each column is a type and the arrays that are joined in it."""
    data: list[bytes] = []
    listed: list[tuple[str, str, int]] = []
    for name, (kind, parts) in columns.items():
        arrays = [np.asarray(part, dtype=_TYPES[kind]) for part in parts]
        listed.append((name, kind, sum(len(array) for array in arrays)))
        data += [array.tobytes() for array in arrays]
        data.append(bytes(-sum(array.nbytes for array in arrays) % 4))
    text = json.dumps({**header, "columns": listed}, allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return b"".join([_PREAMBLE.pack(MAGIC, len(text), sum(map(len, data))), text, *data])


def decode(data: bytes) -> Message:
    """The columns are views into `data`."""
    if len(data) < _PREAMBLE.size:
        raise _malformed("it is too short")
    magic, header_size, size = _PREAMBLE.unpack_from(data)
    if magic != MAGIC:
        raise _malformed(f"it does not begin with {MAGIC.decode()}")
    at = _PREAMBLE.size + header_size
    if header_size > _MAX_HEADER:
        raise TrainerError(413, f"The header has more than {_MAX_HEADER} bytes: send tokens in columns.")
    if header_size % 4 or at + size != len(data):
        raise _malformed("its sizes do not add up")
    header = _header(data[_PREAMBLE.size : at])
    columns: dict[str, Column] = {}
    for name, kind, length in _listed(header.pop("columns", None)):
        end = at + length * _TYPES[kind].itemsize
        if end > len(data) or name in columns:
            raise _malformed("its columns do not add up")
        columns[name] = np.frombuffer(data, dtype=_TYPES[kind], count=length, offset=at)
        at = end + -end % 4
    if at != len(data):
        raise _malformed("its columns do not add up")
    return Message(header, columns)


def _malformed(why: str) -> TrainerError:
    return bad_request(f"The body is not a valid column message: {why}.")


def _header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise _malformed("its header is not JSON") from None
    if not isinstance(header, dict):
        raise _malformed("its header is not an object")
    return header


def _listed(given: Any) -> list[tuple[str, str, int]]:
    """Validates the list of columns."""
    if not isinstance(given, list) or len(given) > _MAX_COLUMNS:
        raise _malformed(f"columns must be a list of at most {_MAX_COLUMNS}")
    for entry in given:
        if not isinstance(entry, list) or len(entry) != 3:
            raise _malformed("a column must be [name, type, length]")
        name, kind, length = entry
        if not isinstance(name, str) or not isinstance(kind, str) or kind not in _TYPES:
            raise _malformed(f"a column must have a name and one of the types {', '.join(_TYPES)}")
        if isinstance(length, bool) or not isinstance(length, int) or not 0 <= length < 1 << 32:
            raise _malformed(f"the length of {name[:80]} must be a non-negative integer")
    return given
