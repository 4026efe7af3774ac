"""Access control and resource limits: keys, cross-origin requests, uploads, and JSON that grows when parsed."""

import asyncio
import http.client
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from coa_trainer.server.http import parse_object
from coa_trainer.server.paths import Folders
from coa_trainer.server.uploads import KEPT_SECONDS, Uploads
from live import Client, ServerError, datum, server
from tiny import save_tiny

LIMIT = 200_000


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def client(tiny_folder: Path, data: Path) -> Iterator[Client]:
    with server(tiny_folder, data, "--upload-limit", str(LIMIT)) as live:
        yield live


def test_only_healthz_works_without_a_key(tiny_folder: Path, tmp_path: Path) -> None:
    with server(tiny_folder, tmp_path, key="secret") as good:
        stranger = Client(good.url.removesuffix("/api/v1"))
        assert stranger.get("/healthz") == {"status": "ok"}
        for method, path in (
            ("PUT", "/uploads/fill/healthz"),
            ("GET", "/training_runs/healthz"),
            ("GET", "/samplers/healthz"),
            ("GET", "/healthz/healthz"),
            ("DELETE", "/uploads/healthz"),
        ):
            with pytest.raises(ServerError, match="401"):
                stranger.send(method, path, b"x" if method == "PUT" else None)
        assert not (tmp_path / "uploads" / "fill").exists()


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "192.168.0.1", "[::2]"]
)
def test_dns_rebinding_is_rejected(client: Client, host: str) -> None:
    with pytest.raises(ServerError, match="403"):
        client.send("GET", "/get_server_capabilities", Host=host)


@pytest.mark.parametrize("host", ["localhost", "localhost:9", "127.0.0.1", "127.1.2.3:80", "[::1]:8000", "[::1]"])
def test_any_loopback_host_is_accepted(client: Client, host: str) -> None:
    assert json.loads(client.send("GET", "/healthz", Host=host)) == {"status": "ok"}


def test_with_a_key_any_host_is_accepted(tiny_folder: Path, tmp_path: Path) -> None:
    with server(tiny_folder, tmp_path, key="secret") as good:
        assert good.send("GET", "/get_server_capabilities", Host="trainer.example")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_content_types_without_a_preflight_are_rejected(client: Client, kind: str) -> None:
    with pytest.raises(ServerError, match="415"):
        client.send("POST", "/create_session", b"{}", Content_Type=kind)


def test_uploads_have_a_total_size_limit(client: Client, data: Path) -> None:
    client.send("PUT", "/uploads/one/a", b"x" * (LIMIT - 1000))
    with pytest.raises(ServerError, match="--upload-limit") as caught:
        client.send("PUT", "/uploads/two/b", b"x" * 2000)
    assert caught.value.status == 413
    # A repeated upload replaces the first file and does not count twice.
    client.send("PUT", "/uploads/one/a", b"y" * 1000)
    client.send("PUT", "/uploads/two/b", b"x" * (LIMIT - 2000))
    assert client.get("/uploads/two") == {"files": [{"name": "b", "bytes": LIMIT - 2000}]}
    client.send("DELETE", "/uploads/two")
    assert client.get("/uploads/two") == {"files": []}
    client.send("PUT", "/uploads/three/c", b"x" * (LIMIT - 2000))
    client.send("DELETE", "/uploads/three")
    client.send("DELETE", "/uploads/one")
    assert list((data / "uploads").iterdir()) == []
    with pytest.raises(ServerError, match="404"):
        client.send("DELETE", "/uploads/one")


def test_a_chunked_upload_is_counted_as_it_arrives(client: Client, data: Path) -> None:
    address = client.url.removeprefix("http://").removesuffix("/api/v1")
    connection = http.client.HTTPConnection(address, timeout=600)
    connection.request("PUT", "/api/v1/uploads/long/a", iter([b"x" * 50_000] * 10), {}, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()
    assert list((data / "uploads" / "long").iterdir()) == []
    client.send("DELETE", "/uploads/long")


def test_unused_uploads_expire_after_a_day(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    for name in ("old", "used", "new"):
        folders.upload(name).mkdir(parents=True)
        (folders.upload(name) / "file").write_bytes(b"x" * 10)
        if name != "new":
            os.utime(folders.upload(name), (0, 1e9 - KEPT_SECONDS))
    asyncio.run(Uploads(folders, 100).remove_old({"used"}))
    assert sorted(path.name for path in folders.uploads.iterdir()) == ["new", "used"]


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"[]," * 2_000_000 + b"0]",
        b"[" + b"{}," * 2_000_000 + b"0]",
        b"[" + b"1," * 34_000_000 + b"0]",
        b"{" + b'"a":1,' * 2_000_000 + b'"b":1}',
        b"[" + b'"",' * 3_000_000 + b"0]",
    ],
    ids=["lists", "objects", "numbers", "keys", "texts"],
)
def test_oversized_json_is_rejected_before_parsing(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coa_trainer.server.http.json.loads", lambda *_: pytest.fail("it was parsed"))
    with pytest.raises(Exception, match="send fewer examples"):
        parse_object(body)


def test_a_billion_samples_are_rejected(client: Client) -> None:
    model = client.create()
    body = {"model_id": model, "prompt": {"chunks": [{"tokens": [1]}]}, "num_samples": 10**9}
    with pytest.raises(ServerError, match="num_samples"):
        client.call("/asample", body)


@pytest.mark.parametrize("kind", ["llama", "qwen2"])
def test_a_billion_layers_are_rejected_before_they_are_built(client: Client, tmp_path: Path, kind: str) -> None:
    """Qwen's configuration builds a list of its layers as soon as it is read."""
    save_tiny(tmp_path / "tall", kind)
    config = json.loads((tmp_path / "tall" / "config.json").read_text())
    config["num_hidden_layers"] = 10**9
    config.pop("layer_types", None)
    client.send("PUT", "/uploads/tall/config.json", json.dumps(config).encode())
    with pytest.raises(ServerError, match="num_hidden_layers 1000000000"):
        client.create(base_model="upload://tall")
    model = client.create()
    weights = (tmp_path / "tall" / "model.safetensors").read_bytes()
    client.send("PUT", "/uploads/tall/model.safetensors", weights)
    with pytest.raises(ServerError, match="num_hidden_layers 1000000000"):
        client.call("/load_weights", {"model_id": model, "path": "upload://tall"})
    assert client.forward(model, [datum()]) > 0
    client.send("DELETE", "/uploads/tall")
