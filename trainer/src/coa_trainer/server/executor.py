"""Executes requests. Its methods run in the worker thread."""

import json
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from ..errors import TrainerError, bad_request, unknown
from ..model.bases import BaseModels
from ..model.checkpoint import fill_folder, recover, write_checkpoint
from ..model.datum import Datum, Loss, PassResult
from ..model.learner import PassOptions
from ..model.ranks import Ranks
from ..model.snapshot import Snapshot
from ..model.trained import TrainedModel
from ..sampling.job import Batch
from . import column_messages, parse
from .activity import ActivityTracker
from .background_saves import BackgroundSaves, Later
from .columns import Message
from .database import Database
from .model_ops import ModelOps
from .paths import Folders
from .results import pass_result, prompt_logprobs
from .sources import SamplerOptions, Source, Sources

Body = dict[str, Any]
# Bytes: a column message.
Result = dict[str, Any] | bytes

# Saved weights of ephemeral sampling sessions that are kept per model.
KEPT_EPHEMERAL = 2


class Executor:
    def __init__(
        self,
        bases: BaseModels,
        database: Database,
        folders: Folders,
        passes: PassOptions,
        sampling: SamplerOptions,
        ranks: Ranks | None = None,
        activity: ActivityTracker | None = None,
    ) -> None:
        self.bases = bases
        self.database = database
        self.folders = folders
        self.ops = ModelOps(bases, passes, ranks)
        self.models = self.ops.models
        self.sources = Sources(bases, passes, sampling)
        self.activity = activity or ActivityTracker()
        self.saves = BackgroundSaves()
        # Which change of each model is the latest; a save that ends later does not describe it any more.
        self._changes: Counter[str] = Counter()
        self._changing = Lock()
        self._operations: dict[str, Callable[[Body], Result | Later]] = {
            "create_model": self._create_model,
            "forward": lambda body: self._pass(body, "forward_input", backward=False),
            "forward_backward": lambda body: self._pass(body, "forward_backward_input", backward=True),
            "optim_step": self._optim_step,
            "save_weights": self._save_weights,
            "save_weights_for_sampler": self._save_for_sampler,
            "load_weights": self._load_weights,
            "unload_model": self._unload,
        }

    def run(self, kind: str, body: Body) -> Result | Later:
        return self._operations[kind](body)

    def model(self, body: Body) -> TrainedModel:
        model_id = parse.text(body.get("model_id"), "model_id")
        self.activity.touch(model_id)
        if model_id not in self.models:
            self._wake(model_id)
        return self.models[model_id]

    # Models

    def _create_model(self, body: Body) -> Result:
        model_id, base = body["model_id"], self.bases.find(parse.text(body.get("base_model"), "base_model"))
        lora = parse.lora_settings(body.get("lora_config"))
        self.ops.create(model_id, base, lora)
        self.database.set_same_as(model_id, json.dumps({"path": None}))
        return {
            "type": "create_model",
            "model_id": model_id,
            "base_model": base,
            "lora_config": {"rank": lora.rank, "alpha": lora.alpha} if lora else {"rank": 0},
            "coa": self.models[model_id].info,
        }

    def _unload(self, body: Body) -> Result:
        trained = self.model(body)
        self._persist_ephemeral(trained)
        self.sources.remove(trained.id)
        self.ops.unload(trained.id)
        self.database.set_model_state(trained.id, "unloaded")
        shutil.rmtree(self.folders.parked(trained.id).parent, ignore_errors=True)
        return {"type": "unload_model", "model_id": trained.id, "status": "unloaded"}

    # Models of inactive clients

    def park_idle(self, seconds: float) -> list[str]:
        """Saves and unloads models without requests for this long whose session is silent too.

        A model with accumulated gradients stays loaded, because those are not saved.
        """
        parked: list[str] = []
        for model_id, known in self.database.models().items():
            trained = self.models.get(model_id)
            session = str(known["settings"].get("session_id") or model_id)
            if trained is None or self.activity.idle_seconds(model_id, session) < seconds:
                continue
            if trained.optimizer.has_gradients or self.sources.samples(model_id):
                continue
            self._park(trained)
            parked.append(model_id)
        return parked

    def _park(self, trained: TrainedModel) -> None:
        self._persist_ephemeral(trained)
        self.saves.wait()
        write_checkpoint(self.folders.parked(trained.id), self.ops.snapshot(trained.id, optimizer=True))
        # From here on the model can be restored after a restart.
        self.database.set_same_as(trained.id, json.dumps({"path": None, "parked": trained.version}))
        self.database.set_model_state(trained.id, "parked")
        self.sources.remove(trained.id)
        self.ops.unload(trained.id)

    def _wake(self, model_id: str) -> None:
        known = self.database.models().get(model_id)
        if known is None or known["state"] != "parked":
            raise unknown("model", model_id)
        self.restore(model_id, known)
        self.database.set_model_state(model_id, "live")

    # Training

    def _pass(self, body: Body, name: str, backward: bool) -> Result:
        trained = self.model(body)
        message = body.get("message")
        if isinstance(message, Message):
            data, loss = column_messages.pass_input(message, trained.vocabulary, trained.context_length)
            return column_messages.pass_result(self._run(trained, data, loss, backward))
        given = body.get(name) or body.get("forward_backward_input") or body.get("forward_input")
        data, loss = parse.pass_input(given, trained.vocabulary, trained.context_length)
        return pass_result(self._run(trained, data, loss, backward))

    def _run(self, trained: TrainedModel, data: list[Datum], loss: Loss, backward: bool) -> PassResult:
        if backward:
            self._changed(trained.id)
        return self.ops.run(trained.id, data, loss, backward)

    def _optim_step(self, body: Body) -> Result:
        trained = self.model(body)
        given = body.get("adam_params") or body.get("optim_params") or body.get("optimizer_params")
        settings = parse.adam_settings(given)
        self._changed(trained.id)
        self._persist_ephemeral(trained)
        norm = self.ops.update(trained.id, settings)
        self._weights_changed(trained)
        return {"type": "optim_step", "metrics": {"grad_norm": norm, "step": trained.optimizer.step}}

    # Checkpoints

    def _changed(self, model_id: str) -> None:
        with self._changing:
            self._changes[model_id] += 1
            self.database.set_same_as(model_id, None)

    def _save_weights(self, body: Body) -> Later:
        """Copies the weights and returns; the files are written while the next requests run."""
        trained = self.model(body)
        optimizer = bool(body.get("optimizer", True))
        given = body.get("folder")
        # One copy at a time, so that memory for one is enough.
        self.saves.wait()
        if given is not None:
            folder = self.folders.granted.find(parse.text(given, "folder"))
            if any(not path.name.startswith(".") for path in folder.iterdir()):
                raise TrainerError(409, f"The folder {folder} is not empty.")
            snapshot = self.ops.snapshot(trained.id, optimizer)
            return self.saves.start(lambda: self._write_into(folder, snapshot))
        name = parse.text(body.get("path") or uuid.uuid4().hex, "path")
        folder = self.folders.checkpoint(trained.id, "weights", name)
        if folder.exists() and body.get("overwrite") is False:
            raise TrainerError(409, f"The checkpoint {name} already exists; choose another name.")
        snapshot = self.ops.snapshot(trained.id, optimizer)
        path = f"tinker://{trained.id}/weights/{name}"
        saved = self._changes[trained.id]
        restorable = optimizer and not trained.optimizer.has_gradients

        def write() -> dict[str, Any]:
            with _writing(folder):
                write_checkpoint(folder, snapshot)
            with self._changing:
                if restorable and self._changes[trained.id] == saved:
                    self.database.set_same_as(trained.id, json.dumps({"path": path}))
            return {"type": "save_weights", "path": path}

        return self.saves.start(write)

    def _write_into(self, folder: Path, snapshot: Snapshot) -> dict[str, Any]:
        """The client moves the folder afterwards, so a model is not restored from it."""
        with _writing(folder):
            return {"type": "save_weights", "path": None, "files": fill_folder(folder, snapshot)}

    def _load_weights(self, body: Body) -> Result:
        trained = self.model(body)
        path = parse.text(body.get("path"), "path")
        optimizer = bool(body.get("optimizer", False))
        self.saves.wait()
        folder = self.folders.resolve(path)
        self._persist_ephemeral(trained)
        same_as = self.database.models()[trained.id]["same_as"]
        self._changed(trained.id)
        version = trained.version
        try:
            taken = self.ops.load(trained.id, folder, optimizer)
        except TrainerError:
            if trained.version == version:
                # Rejected before anything was changed.
                self.database.set_same_as(trained.id, same_as)
            raise
        self._weights_changed(trained)
        return {"type": "load_weights", "path": path, "optimizer": taken}

    def _weights_changed(self, trained: TrainedModel) -> None:
        if self.sources.has(trained.id):
            self.ops.sampled(trained.id)
            self.sources.weights_changed(trained.id)

    def _save_for_sampler(self, body: Body) -> Result:
        trained = self.model(body)
        if body.get("path"):
            name = parse.text(body["path"], "path")
            folder = self.folders.checkpoint(trained.id, "sampler_weights", name)
            write_checkpoint(folder, self.ops.snapshot(trained.id, optimizer=False))
            path = f"tinker://{trained.id}/sampler_weights/{name}"
            return {"type": "save_weights_for_sampler", "path": path, "sampling_session_id": None}
        sampler_id = uuid.uuid4().hex
        source = {"model_id": trained.id, "version": trained.version, "base_model": trained.weights.base}
        self.database.add_sampler(sampler_id, source)
        trained.ephemeral_sessions.append(sampler_id)
        return {"type": "save_weights_for_sampler", "path": None, "sampling_session_id": sampler_id}

    def _persist_ephemeral(self, trained: TrainedModel) -> None:
        """Before the weights change, saves those that ephemeral sampling sessions refer to."""
        if not trained.ephemeral_sessions:
            return
        name = f"passing-{trained.version}"
        folder = self.folders.checkpoint(trained.id, "sampler_weights", name)
        write_checkpoint(folder, self.ops.snapshot(trained.id, optimizer=False, exact=True))
        path = f"tinker://{trained.id}/sampler_weights/{name}"
        for sampler_id in trained.ephemeral_sessions:
            source = {"model_path": path, "base_model": trained.weights.base}
            self.database.add_sampler(sampler_id, source)
        trained.ephemeral_sessions.clear()
        old = sorted(folder.parent.glob("passing-*"), key=lambda each: each.stat().st_mtime_ns)
        for each in old[:-KEPT_EPHEMERAL]:
            shutil.rmtree(each, ignore_errors=True)

    # Sampling

    def source(self, body: Body) -> Source:
        if body.get("sampling_session_id"):
            found = self.database.sampler(str(body["sampling_session_id"]))
            if found is None:
                raise unknown("sampling session", str(body["sampling_session_id"]))
            body = found
        if body.get("model_path"):
            self.saves.wait()
            path = parse.text(body["model_path"], "model_path")
            return self.sources.of_folder(self.folders.resolve(path), self.base_of(path, body))
        if body.get("model_id"):
            return self.sources.of_model(self.ops.sampled(self.model(body).id))
        if body.get("base_model"):
            return self.sources.of_base(self.bases.find(parse.text(body["base_model"], "base_model")))
        raise bad_request(
            "The request must name what to sample from: model_id, sampling_session_id, base_model or model_path."
        )

    def base_of(self, path: str, body: Body) -> str:
        if body.get("base_model"):
            return self.bases.find(str(body["base_model"]))
        owner = path.removeprefix("tinker://").split("/")[0]
        known = self.database.models().get(owner)
        return self.bases.find(known["settings"]["base_model"]) if known else self.bases.names[0]

    def sample(self, body: Body, batch: Batch) -> Callable[[list[Any]], dict[str, Any]]:
        """Queues a request; the returned function builds the result from its sequences."""
        source = self.source(body)
        trained = source.trained
        request = parse.sample_request(body, trained.vocabulary, trained.context_length)
        source.sampler.check(request)
        scores = prompt_logprobs(trained, request.prompt, body)
        source.sampler.add(request, batch)
        return lambda sequences: {"type": "sample", "sequences": sequences, **scores}

    # After a restart

    def restore(self, model_id: str, known: dict[str, Any]) -> None:
        """Recreates a model in its last state; fails if that state was not saved."""
        same_as = json.loads(known["same_as"]) if known["same_as"] else None
        if same_as is None:
            raise TrainerError(410, f"The last state of model {model_id} was not saved.")
        parked = same_as.get("parked")
        folder = self.folders.resolve(same_as["path"]) if same_as["path"] else None
        if parked is not None:
            folder = self.folders.parked(model_id)
        self._create_model({"model_id": model_id, **known["settings"]})
        if folder is not None:
            self.ops.load(model_id, folder, optimizer=True)
            # Checkpoints of sampling sessions are named by version, so the version must not start over.
            self.models[model_id].version = max(self.models[model_id].version, (parked or 0) + 1)
            self.database.set_same_as(model_id, json.dumps(same_as))

    def clean_folders(self) -> None:
        for parent in self.folders.parents():
            recover(parent)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise TrainerError(507, f"The checkpoint {folder.name} could not be written: {error}.") from error
