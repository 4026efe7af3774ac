"""Clients on the same machine pass folders instead of files, after proving that both sides see the same ones."""

import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

import pytest

from coa_trainer.server import checkpoint_routes
from live import Client, ServerError, datum, server
from tiny import save_tiny


def write_proof(folder: Path, mode: int = 0o600) -> tuple[Path, str]:
    path, token = folder / f".coa-proof-{secrets.token_hex(16)}", secrets.token_hex(32)
    path.write_text(token)
    path.chmod(mode)
    return path, token


def ask(client: Client, proof: Path, token: str) -> Any:
    return client.post("/coa/folders", {"proof": str(proof), "sha256": hashlib.sha256(token.encode()).hexdigest()})


def grant(client: Client, folder: Path) -> str:
    proof, token = write_proof(folder)
    answer = ask(client, proof, token)
    proof.unlink()
    assert answer["token"] == token
    name: str = answer["folder"]
    return name


def test_a_model_is_read_saved_and_loaded_in_place(tiny_folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    save_tiny(own, seed=7)
    with server(tiny_folder, tmp_path / "data") as client:
        base = grant(client, own)
        # The same model has the same name, so that adapters share it.
        assert grant(client, own) == base
        model = client.create(base_model=f"folder://{base}")
        client.learn(model, [datum()])
        client.step(model)
        loss = client.forward(model, [datum()])
        target = tmp_path / ".target.tmp"
        target.mkdir()
        saved = client.call("/save_weights", {"model_id": model, "folder": grant(client, target)})
        for file in saved["files"]:
            content = (target / file["name"]).read_bytes()
            assert (len(content), hashlib.sha256(content).hexdigest()) == (file["bytes"], file["sha256"])
        moved = target.rename(tmp_path / "checkpoint")
        client.learn(model, [datum()])
        client.step(model)
        load = {"model_id": model, "path": f"folder://{grant(client, moved)}", "optimizer": True}
        assert client.call("/load_weights", load)["optimizer"] is True
        assert client.forward(model, [datum()]) == loss
        # Nothing was copied into the data folder.
        assert list((tmp_path / "data").rglob("*.safetensors")) == []
        with pytest.raises(ServerError, match="is not empty"):
            client.call("/save_weights", {"model_id": model, "folder": grant(client, moved)})


def test_a_path_without_proof_is_refused(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with server(tiny_folder, tmp_path / "data") as client:

        def refused(status: int, proof: Path, token: str) -> None:
            with pytest.raises(ServerError) as error:
                ask(client, proof, token)
            assert error.value.status == status
            assert token not in error.value.detail

        proof, token = write_proof(tmp_path)
        refused(403, proof, "another token")
        refused(404, tmp_path / f".coa-proof-{'0' * 32}", token)
        shared, known = write_proof(tmp_path, mode=0o644)
        refused(404, shared, known)
        link = tmp_path / f".coa-proof-{'1' * 32}"
        link.symlink_to(proof)
        refused(404, link, token)
        secret = tmp_path / "id_rsa"
        secret.write_text(token)
        secret.chmod(0o600)
        refused(404, secret, token)
        refused(404, Path(os.path.relpath(proof)), token)
        with monkeypatch.context() as patch:
            patch.setattr(checkpoint_routes, "is_loopback", lambda _: False)
            refused(403, proof, token)
        for path in ("folder://" + "a" * 32, f"folder://{tmp_path}", "folder://../x"):
            with pytest.raises(ServerError):
                client.create(base_model=path)


def test_a_folder_whose_model_was_replaced_is_refused(tiny_folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    save_tiny(own, seed=7)
    with server(tiny_folder, tmp_path / "data") as client:
        name = grant(client, own)
        config = json.loads((own / "config.json").read_text())
        (own / "config.json").write_text(json.dumps({**config, "rope_theta": 5}))
        with pytest.raises(ServerError, match="has changed"):
            client.create(base_model=f"folder://{name}")
        assert grant(client, own) != name
