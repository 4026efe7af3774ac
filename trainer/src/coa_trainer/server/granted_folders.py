"""Folders of clients on the same machine, which the server may use in place.

A path alone proves nothing: the server may run for another user, in a container or behind a tunnel. So the client puts
a file with a random token into the folder and sends its path and the token's hash; the server answers with the token.
That proves to the server that its own user can write there, and to the client that both see the same folder.
"""

import hashlib
import hmac
import json
import os
import re
import stat
import time
import uuid
from collections.abc import Collection
from pathlib import Path

from ..errors import TrainerError, unknown
from ..model.load import is_weight_file

KEPT_SECONDS = 24 * 3600
_PROOF = re.compile(r"^\.coa-proof-[0-9a-f]{32}$")
_TOKEN_BYTES = 64


class GrantedFolders:
    """Grants are files in the data folder, so that every rank sees them and they survive restarts."""

    def __init__(self, data: Path) -> None:
        self._grants = data / "folders"

    def grant(self, proof: str, digest: str) -> tuple[str, str]:
        """The name under which the proof's folder can be used, and the token."""
        path = Path(proof)
        token = _read_proof(path)
        if not hmac.compare_digest(hashlib.sha256(token).hexdigest(), digest):
            raise TrainerError(403, "The proof does not contain the announced token.")
        folder = path.parent.resolve()
        grant = {"path": str(folder), "contents": _contents(folder)}
        self._grants.mkdir(parents=True, exist_ok=True)
        for known in self._grants.glob("[!.]*.json"):
            # The same model under the same name: adapters on it share its weights.
            if json.loads(known.read_text()) == grant:
                os.utime(known)
                return known.stem, token.decode()
        name = uuid.uuid4().hex
        temporary = self._grants / f".{name}"
        temporary.write_text(json.dumps(grant))
        temporary.rename(self._grants / f"{name}.json")
        return name, token.decode()

    def find(self, name: str) -> Path:
        """The folder, if the model in it is still the one it was granted with."""
        path = self._grants / f"{name}.json"
        if not re.fullmatch("[0-9a-f]{32}", name) or not path.is_file():
            raise unknown("folder", name[:80])
        grant = json.loads(path.read_text())
        folder = Path(grant["path"])
        if not folder.is_dir() or _contents(folder) != grant["contents"]:
            raise TrainerError(410, f"The folder {folder} was replaced or has changed: open it again.")
        os.utime(path)
        return folder

    def remove_old(self, in_use: Collection[str]) -> None:
        for path in self._grants.glob("[!.]*.json"):
            if path.stem not in in_use and path.stat().st_mtime < time.time() - KEPT_SECONDS:
                path.unlink(missing_ok=True)


def _read_proof(path: Path) -> bytes:
    """Only a client's own proof is ever read: the name, owner, permissions and size must be those of one."""
    refused = TrainerError(404, "There is no such proof here.")
    if not path.is_absolute() or not _PROOF.match(path.name):
        raise refused
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        raise refused from None
    try:
        facts = os.fstat(handle)
        private = stat.S_ISREG(facts.st_mode) and facts.st_mode & 0o077 == 0
        if not private or facts.st_uid != os.geteuid() or facts.st_size != _TOKEN_BYTES:
            raise refused
        token = os.read(handle, _TOKEN_BYTES + 1)
    finally:
        os.close(handle)
    if not re.fullmatch(rb"[0-9a-f]{64}", token):
        raise refused
    return token


def _contents(folder: Path) -> list[list[object]]:
    """Identifies the model in a folder without reading it."""
    found = [path for path in folder.iterdir() if path.name == "config.json" or is_weight_file(path.name)]
    facts = [(path.name, path.stat()) for path in sorted(found)]
    return [[name, each.st_size, each.st_mtime_ns, each.st_ino] for name, each in facts]
