"""Futures, models and sessions in SQLite, so that they survive clients and server restarts."""

import json
import sqlite3
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import TrainerError

KEPT_SECONDS = 24 * 3600

_SCHEMA = """
CREATE TABLE IF NOT EXISTS futures (
  number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, key TEXT UNIQUE, kind TEXT NOT NULL, model TEXT,
  body BLOB, digest TEXT NOT NULL, state TEXT NOT NULL, status INTEGER, result BLOB,
  created REAL NOT NULL, finished REAL);
CREATE TABLE IF NOT EXISTS models (
  id TEXT PRIMARY KEY, settings TEXT NOT NULL, state TEXT NOT NULL, same_as TEXT, created REAL NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, settings TEXT NOT NULL, created REAL NOT NULL);
CREATE TABLE IF NOT EXISTS samplers (id TEXT PRIMARY KEY, source TEXT NOT NULL, created REAL NOT NULL);
"""


@dataclass(frozen=True)
class Future:
    id: str
    kind: str
    model: str | None
    state: str
    """pending, running, done or failed."""
    body: bytes | None = None
    status: int | None = None
    result: bytes | None = None


class Database:
    """One connection behind a lock: every call is short. WAL keeps committed data if the process is killed."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.executescript(_SCHEMA)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    # Futures

    def add_future(
        self, future_id: str, key: str | None, kind: str, model: str | None, body: bytes, digest: str
    ) -> tuple[str, bool]:
        """Returns the future's id and whether it is new; reusing a key with another body is an error."""
        with self._lock:
            if key is not None:
                row = self._connection.execute("SELECT id, digest FROM futures WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    if row[1] != digest:
                        raise TrainerError(409, f"{key} was already used for another request; use the next seq_id.")
                    return str(row[0]), False
            self._connection.execute(
                "INSERT INTO futures (id, key, kind, model, body, digest, state, created) VALUES (?,?,?,?,?,?,?,?)",
                (future_id, key, kind, model, body, digest, "pending", time.time()),
            )
        return future_id, True

    def begin(self, future_id: str) -> None:
        self._run("UPDATE futures SET state = 'running' WHERE id = ?", future_id)

    def finish(self, future_id: str, status: int, result: bytes) -> None:
        state = "done" if status == 200 else "failed"
        self._run(
            "UPDATE futures SET state = ?, status = ?, result = ?, body = NULL, finished = ? WHERE id = ?",
            *(state, status, result, time.time(), future_id),
        )

    def future(self, future_id: str) -> Future | None:
        rows = self._run("SELECT id, kind, model, state, NULL, status, result FROM futures WHERE id = ?", future_id)
        return Future(*rows[0]) if rows else None

    def unfinished(self) -> list[Future]:
        rows = self._run(
            "SELECT id, kind, model, state, body FROM futures WHERE state IN ('pending', 'running') ORDER BY number"
        )
        return [Future(*row) for row in rows]

    def delete_expired(self) -> None:
        self._run("DELETE FROM futures WHERE finished < ?", time.time() - KEPT_SECONDS)

    # Models

    def add_model(self, model_id: str, settings: dict[str, Any]) -> None:
        self._run(
            "INSERT OR IGNORE INTO models VALUES (?, ?, 'live', NULL, ?)",
            model_id,
            json.dumps(settings),
            time.time(),
        )

    def models(self) -> dict[str, dict[str, Any]]:
        rows = self._run("SELECT id, settings, state, same_as, created FROM models ORDER BY created")
        return {
            row[0]: {"settings": json.loads(row[1]), "state": row[2], "same_as": row[3], "created": row[4]}
            for row in rows
        }

    def set_model_state(self, model_id: str, state: str) -> None:
        self._run("UPDATE models SET state = ? WHERE id = ?", state, model_id)

    def set_same_as(self, model_id: str, same_as: str | None) -> None:
        """Where the model's complete state is saved; None if it is not."""
        self._run("UPDATE models SET same_as = ? WHERE id = ?", same_as, model_id)

    # Sessions and samplers

    def add_session(self, session_id: str, settings: dict[str, Any]) -> None:
        self._run("INSERT INTO sessions VALUES (?, ?, ?)", session_id, json.dumps(settings), time.time())

    def has_session(self, session_id: str) -> bool:
        return bool(self._run("SELECT 1 FROM sessions WHERE id = ?", session_id))

    def add_sampler(self, sampler_id: str, source: dict[str, Any]) -> None:
        self._run("INSERT OR REPLACE INTO samplers VALUES (?, ?, ?)", sampler_id, json.dumps(source), time.time())

    def sampler(self, sampler_id: str) -> dict[str, Any] | None:
        rows = self._run("SELECT source FROM samplers WHERE id = ?", sampler_id)
        return json.loads(rows[0][0]) if rows else None
