"""Names and locations of checkpoints in the data folder."""

import re
from pathlib import Path

from ..errors import bad_request, unknown
from .granted_folders import GrantedFolders

_NAME = re.compile(r"^[a-zA-Z0-9_-][a-zA-Z0-9_.-]{0,254}$")
KINDS = ("weights", "sampler_weights")


def check_name(name: str, what: str) -> str:
    if not _NAME.match(name) or ".." in name:
        raise bad_request(f"{what} {name[:80]!r} may contain only letters, digits, '_', '-' and '.'.")
    return name


class Folders:
    def __init__(self, data: Path) -> None:
        self.data = data
        self.checkpoints = data / "checkpoints"
        self.uploads = data / "uploads"
        self.granted = GrantedFolders(data)

    def checkpoint(self, model: str, kind: str, name: str) -> Path:
        return self.checkpoints / check_name(model, "model") / kind / check_name(name, "checkpoint")

    def parked(self, model: str) -> Path:
        """Saved state of a model whose client is inactive; not a checkpoint that clients see."""
        return self.checkpoints / check_name(model, "model") / "parked" / "state"

    def upload(self, name: str) -> Path:
        return self.uploads / check_name(name, "upload")

    def find(self, model: str, name: str) -> Path:
        """`name` may be prefixed with the kind."""
        kind, _, rest = name.rpartition("/")
        for candidate in (kind,) if kind in KINDS else KINDS:
            folder = self.checkpoint(model, candidate, rest)
            if folder.is_dir():
                return folder
        raise unknown("checkpoint", f"{name} of model {model}")

    def resolve(self, path: str) -> Path:
        """The folder of tinker://model/weights/name, tinker://model/name, upload://name or folder://name."""
        scheme, separator, rest = path.partition("://")
        if separator and scheme == "folder":
            return self.granted.find(rest)
        if separator and scheme == "upload":
            folder = self.upload(rest)
            if not folder.is_dir():
                raise unknown("upload", rest)
            return folder
        parts = rest.split("/")
        if separator and scheme == "tinker" and len(parts) in (2, 3):
            return self.find(parts[0], "/".join(parts[1:]))
        raise bad_request(f"{path[:200]} is not a weights path; use tinker://model/weights/name or upload://name.")

    def parents(self) -> list[Path]:
        """Folders that contain checkpoints."""
        return [folder for model in self.checkpoints.glob("*") for folder in model.iterdir() if folder.is_dir()]
