"""What a tracker has, read with its own library: one JSON object with metrics, settings and chains."""

import json
import sys
from pathlib import Path


def mlflow(url: str, run: str) -> dict:
    from mlflow import MlflowClient, set_tracking_uri

    set_tracking_uri(url)
    client = MlflowClient(url)
    experiment = client.get_experiment_by_name("coa")
    found = client.search_runs([experiment.experiment_id], f"tags.`coa.run` = '{run}'")
    chosen = found[0]
    metrics = {
        name: [[point.step, point.value] for point in client.get_metric_history(chosen.info.run_id, name)]
        for name in chosen.data.metrics
    }
    table = client.load_table(experiment.experiment_id, "chains.json", [chosen.info.run_id])
    chains = [{name: None if row[name] != row[name] else row[name] for name in CHAIN} for _, row in table.iterrows()]
    status = chosen.info.status
    return {"runs": len(found), "status": status, "metrics": metrics, "settings": chosen.data.params, "chains": chains}


def wandb(folder: str, run: str) -> dict:
    """An offline run: the log that `wandb sync` uploads."""
    from wandb.proto import wandb_internal_pb2

    metrics: dict = {}
    settings: dict = {}
    chains: list = []
    files = sorted(Path(folder).glob("wandb/offline-run-*/run-*.wandb"))
    status = None
    for file in files:
        for data in log_records(file.read_bytes()):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            kind = record.WhichOneof("record_type")
            if kind == "run" and record.run.display_name == run:
                settings |= {item.key: json.loads(item.value_json) for item in record.run.config.update}
            if kind == "exit":
                status = record.exit.exit_code
            if kind == "history":
                items = [(list(item.nested_key) or [item.key], json.loads(item.value_json)) for item in record.history.item]
                values = {".".join(key): value for key, value in items}
                step = next((value for name, value in values.items() if name.endswith("/step")), None)
                for name, value in values.items():
                    if name == "chains.path":
                        table = json.loads((file.parent / "files" / value).read_text())
                        chains += [dict(zip(table["columns"], row)) for row in table["data"]]
                    elif not name.startswith(("_", "chains.")) and not name.endswith("/step"):
                        metrics.setdefault(name, []).append([step, value])
    return {"runs": len(files), "status": status, "metrics": metrics, "settings": settings, "chains": chains}


def log_records(data: bytes):
    """The records of a LevelDB log: blocks of 32 KB, each record in one or more parts with 7 bytes before them."""
    at, whole = 7, b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        whole += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            yield whole
            whole = b""


def trackio(_: str, run: str) -> dict:
    from trackio.sqlite_storage import SQLiteStorage

    runs = [name for name in SQLiteStorage.get_runs("coa")]
    metrics: dict = {}
    chains: list = []
    for row in SQLiteStorage.get_logs("coa", run):
        for name, value in row.items():
            if name == "chains":
                chains += value["_value"]
            elif name not in ("step", "timestamp"):
                metrics.setdefault(name, []).append([row["step"], value])
    return {"runs": len(runs), "metrics": metrics, "settings": SQLiteStorage.get_run_config("coa", run), "chains": chains}


def tensorboard(folder: str, run: str) -> dict:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(Path(folder) / run), size_guidance={"tensors": 0, "scalars": 0})
    events.Reload()
    metrics = {name: [[event.step, event.value] for event in events.Scalars(name)] for name in events.Tags()["scalars"]}
    names = [name for name in events.Tags()["tensors"] if events.SummaryMetadata(name).plugin_data.plugin_name == "text"]
    chains = [
        {"stage": name.removesuffix("/chain"), "step": event.step, "chain": event.tensor_proto.string_val[0].decode()}
        for name in names
        for event in events.Tensors(name)
    ]
    return {"runs": 1, "metrics": metrics, "settings": {}, "chains": chains}


CHAIN = ["stage", "step", "question", "chain", "answer", "outcome", "reward"]
print(json.dumps({"mlflow": mlflow, "wandb": wandb, "trackio": trackio, "tensorboard": tensorboard}[sys.argv[1]](sys.argv[2], sys.argv[3])))
