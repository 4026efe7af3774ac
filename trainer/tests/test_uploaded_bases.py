"""Training on base models uploaded by a client, full and with LoRA."""

import hashlib
from pathlib import Path

import pytest

from live import Client, ServerError, datum, sample, server
from tiny import save_tiny


def send(client: Client, folder: Path, upload: str) -> str:
    for path in folder.iterdir():
        client.send("PUT", f"/uploads/{upload}/{path.name}", path.read_bytes())
    return f"upload://{upload}"


def test_checksums_identify_the_base_model(tiny_folder: Path, tmp_path: Path) -> None:
    with server(tiny_folder, tmp_path) as client:
        files = {each["name"]: each for each in client.get("/base_models/tiny/files")["files"]}
        assert set(files) == {"config.json", "model.safetensors"}
        for name, file in files.items():
            content = (tiny_folder / name).read_bytes()
            assert file["bytes"] == len(content)
            assert file["sha256"] == hashlib.sha256(content).hexdigest()
        with pytest.raises(ServerError, match="Unknown base model other"):
            client.get("/base_models/other/files")
    with server(tiny_folder, tmp_path / "random", "--random-init") as client:
        assert client.get("/base_models/tiny/files") == {"files": []}


@pytest.mark.parametrize("rank", [0, 4])
def test_an_uploaded_model_is_trained_saved_and_loaded(tiny_folder: Path, tmp_path: Path, rank: int) -> None:
    """Its architecture differs from that of the server's own model."""
    other = tmp_path / "other"
    save_tiny(other, "qwen3", seed=5)
    with server(tiny_folder, tmp_path / "data") as client, server(other, tmp_path / "reference") as reference:
        base = send(client, other, "mine")
        settings = {"rank": rank, "alpha": 8, "seed": 1}
        mine = client.create(base_model=base, lora_config=settings)
        theirs = reference.create(lora_config=settings)
        for _ in range(3):
            for each, model in ((client, mine), (reference, theirs)):
                each.learn(model, [datum()])
                each.step(model)
        assert client.forward(mine, [datum()]) == pytest.approx(reference.forward(theirs, [datum()]), rel=1e-6)
        assert sample(client, model_id=mine)[0]["tokens"] == sample(reference, model_id=theirs)[0]["tokens"]
        path = client.call("/save_weights", {"model_id": mine, "path": "a"})["path"]
        again = client.create(base_model=base, lora_config=settings)
        client.call("/load_weights", {"model_id": again, "path": path})
        assert client.forward(again, [datum()]) == pytest.approx(client.forward(mine, [datum()]), rel=1e-6)
        assert client.get("/get_server_capabilities")["supported_models"][0]["model_name"] == "tiny"
        with pytest.raises(ServerError, match="409"):
            client.send("DELETE", "/uploads/mine")
        for model in (mine, again):
            client.call("/unload_model", {"model_id": model})
        client.send("DELETE", "/uploads/mine")
        with pytest.raises(ServerError, match="Unknown upload"):
            client.create(base_model=base)


def test_an_uploaded_model_survives_a_restart(tiny_folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    save_tiny(other, seed=7)
    with server(tiny_folder, tmp_path / "data") as client:
        model = client.create(4, base_model=send(client, other, "mine"))
        before = client.forward(model, [datum()])
    with server(tiny_folder, tmp_path / "data") as client:
        assert client.forward(model, [datum()]) == before


def test_an_adapter_of_another_scale_is_rejected(tiny_folder: Path, tmp_path: Path) -> None:
    with server(tiny_folder, tmp_path) as client:
        first = client.create(lora_config={"rank": 4, "alpha": 8})
        path = client.call("/save_weights", {"model_id": first, "path": "a"})["path"]
        for settings in ({"rank": 4, "alpha": 16}, {"rank": 2, "alpha": 8}):
            other = client.create(lora_config=settings)
            with pytest.raises(ServerError, match="rank 4 and alpha 8"):
                client.call("/load_weights", {"model_id": other, "path": path})


def test_a_file_arrives_in_pieces(tiny_folder: Path, tmp_path: Path) -> None:
    with server(tiny_folder, tmp_path / "data") as client:

        def put(data: bytes, start: int) -> None:
            client.send("PUT", f"/uploads/parts/file.bin?from={start}&of=9", data)

        put(b"one", 0)
        put(b"two", 3)
        # A repeated piece, and one that does not fit.
        put(b"TWO", 3)
        with pytest.raises(ServerError, match="6 bytes of"):
            put(b"?", 7)
        assert client.get("/uploads/parts")["files"] == []
        put(b"end", 6)
        assert client.get("/uploads/parts")["files"] == [{"name": "file.bin", "bytes": 9}]
        assert (tmp_path / "data" / "uploads" / "parts" / "file.bin").read_bytes() == b"oneTWOend"
