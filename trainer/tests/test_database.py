"""Persistence and expiry in the database."""

from pathlib import Path

import pytest

from coa_trainer.errors import TrainerError
from coa_trainer.server.database import Database


def test_results_are_kept_for_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(tmp_path / "x.sqlite")
    now = [1000.0]
    monkeypatch.setattr("coa_trainer.server.database.time.time", lambda: now[0])
    database.add_future("old", None, "forward", "m", b"body", "d")
    database.finish("old", 200, b"{}")
    database.add_future("waiting", None, "forward", "m", b"body", "d")
    now[0] += 24 * 3600 - 1
    database.delete_expired()
    found = database.future("old")
    assert found is not None
    assert (found.state, found.status, found.result) == ("done", 200, b"{}")
    now[0] += 2
    database.delete_expired()
    assert database.future("old") is None
    # Unfinished futures never expire.
    assert [future.id for future in database.unfinished()] == ["waiting"]


def test_a_key_identifies_one_body(tmp_path: Path) -> None:
    database = Database(tmp_path / "x.sqlite")
    assert database.add_future("a", "m 1", "forward", "m", b"body", "same") == ("a", True)
    assert database.add_future("b", "m 1", "forward", "m", b"body", "same") == ("a", False)
    with pytest.raises(TrainerError, match="m 1") as caught:
        database.add_future("c", "m 1", "forward", "m", b"other", "other")
    assert caught.value.status == 409
    assert database.add_future("d", None, "forward", "m", b"body", "same") == ("d", True)
    assert [future.id for future in database.unfinished()] == ["a", "d"]


def test_everything_survives_reopening(tmp_path: Path) -> None:
    first = Database(tmp_path / "x.sqlite")
    first.add_model("m", {"base_model": "tiny"})
    first.set_same_as("m", '{"path": null}')
    first.add_future("a", None, "forward", "m", b"body", "d")
    first.begin("a")
    first.add_sampler("s", {"model_path": "tinker://m/weights/x"})
    first.close()
    second = Database(tmp_path / "x.sqlite")
    assert second.models()["m"]["same_as"] == '{"path": null}'
    [future] = second.unfinished()
    assert (future.id, future.state, future.body) == ("a", "running", b"body")
    assert second.sampler("s") == {"model_path": "tinker://m/weights/x"}
    assert second.sampler("t") is None
