"""Files uploaded by clients: checkpoints and base models, under a common size limit."""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Collection
from pathlib import Path

from ..errors import TrainerError, bad_request, unknown
from .paths import Folders, check_name

KEPT_SECONDS = 24 * 3600
# Disk space that uploads leave free for the database and checkpoints.
_SPARE_BYTES = 1 << 30
# Bytes read or written at a time.
CHUNK = 8 << 20


class Uploads:
    """Its methods run in the event loop's thread, so the byte count needs no lock."""

    def __init__(self, folders: Folders, limit: int) -> None:
        self._folders = folders
        self._limit = limit
        folders.uploads.mkdir(parents=True, exist_ok=True)
        self._used = sum(_size(folder) for folder in folders.uploads.iterdir())

    def files(self, upload: str) -> list[dict[str, str | int]]:
        folder = self._folders.upload(upload)
        if not folder.is_dir():
            return []
        return [{"name": path.name, "bytes": path.stat().st_size} for path in sorted(folder.glob("[!.]*"))]

    async def write(self, upload: str, name: str, chunks: AsyncIterator[bytes], announced: int) -> int:
        """Writes to a temporary name first, so that a broken connection leaves no partial file."""
        folder = self._folders.upload(upload)
        path = folder / check_name(name, "file")
        self._check_space(announced)
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = await asyncio.to_thread(tempfile.mkstemp, ".tmp", ".", folder)
        size = 0
        replaced = 0
        try:
            with os.fdopen(descriptor, "wb") as file:
                async for chunk in _large(chunks):
                    self._check_space(len(chunk))
                    self._used += len(chunk)
                    size += len(chunk)
                    await asyncio.to_thread(file.write, chunk)
                file.flush()
                await asyncio.to_thread(os.fsync, file.fileno())
            replaced = path.stat().st_size if path.is_file() else 0
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            replaced = size
            raise
        finally:
            self._used -= replaced
        return size

    async def write_piece(
        self, upload: str, name: str, chunks: AsyncIterator[bytes], announced: int, start: int, total: int
    ) -> int:
        """Adds the bytes from `start` on; the file appears when all have arrived. A piece may be repeated."""
        folder = self._folders.upload(upload)
        path = folder / check_name(name, "file")
        part = folder / f".{name}.part"
        self._check_space(announced)
        folder.mkdir(parents=True, exist_ok=True)
        size = part.stat().st_size if part.is_file() else 0
        if not 0 <= start <= size or not start <= total:
            raise bad_request(f"{size} bytes of {name} have arrived; the next piece cannot begin at {start}.")
        with part.open("ab") as file:
            file.truncate(start)
            self._used += start - size
            async for chunk in _large(chunks):
                self._check_space(len(chunk))
                self._used += len(chunk)
                await asyncio.to_thread(file.write, chunk)
                file.flush()
            size = file.tell()
            if size > total:
                raise bad_request(f"{name} was announced with {total} bytes and has {size}.")
            if size == total:
                await asyncio.to_thread(os.fsync, file.fileno())
        if size == total:
            self._used -= path.stat().st_size if path.is_file() else 0
            os.replace(part, path)
        return size

    async def remove(self, upload: str, in_use: Collection[str]) -> None:
        folder = self._folders.upload(upload)
        if not folder.is_dir():
            raise unknown("upload", upload)
        if upload in in_use:
            raise TrainerError(409, f"Upload {upload} is in use: unload the models created from it first.")
        self._used -= _size(folder)
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def remove_old(self, in_use: Collection[str]) -> None:
        """Deletes uploads that no model uses and that have not changed for a day."""
        for folder in list(self._folders.uploads.iterdir()):
            if folder.name not in in_use and folder.stat().st_mtime < time.time() - KEPT_SECONDS:
                await self.remove(folder.name, in_use)

    def _check_space(self, more: int) -> None:
        if self._used + more > self._limit:
            raise TrainerError(
                413,
                f"Uploads are limited to {self._limit} bytes in total and would reach {self._used + more}: "
                "start the server with a larger --upload-limit.",
            )
        if shutil.disk_usage(self._folders.uploads).free - more < _SPARE_BYTES:
            raise TrainerError(507, "The server's disk is full: delete checkpoints or uploads from its data folder.")


async def _large(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Gathers what arrives: each write is handed to another thread."""
    gathered = bytearray()
    async for chunk in chunks:
        gathered += chunk
        if len(gathered) >= CHUNK:
            yield bytes(gathered)
            gathered.clear()
    if gathered:
        yield bytes(gathered)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
