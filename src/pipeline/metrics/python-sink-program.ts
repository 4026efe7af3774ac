/**
 * What runs in the user's Python: it reads one message per line, calls the official library, and replies "ok" or with the reason.
 * The libraries write to standard output themselves, so the replies get a descriptor of their own.
 */
export const pythonSinkProgram = String.raw`
import sys

# W&B makes a folder "wandb" in the current one, which is not the library.
if sys.path[0] == "":
    del sys.path[0]

import importlib, json, os

replies = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
kind = sys.argv[1]


def by_step(points):
    rows = {}
    for point in points:
        stage = point["name"].split("/")[0]
        rows.setdefault((stage, point["step"]), {})[point["name"]] = point["value"]
    return rows.items()


class Wandb:
    def __init__(self, library, target, id, settings, whole):
        entity, _, project = target.rpartition("/")
        self.library = library
        self.axes = set()
        self.run = library.init(
            project=project, entity=entity or None, name=id, config=settings,
            **({} if whole else {"id": id, "resume": "allow"}),
            settings=library.Settings(silent=True, console="off", x_disable_stats=True),
        )

    def send(self, points, columns, chains):
        for (stage, step), values in by_step(points):
            if stage not in self.axes:
                self.axes.add(stage)
                self.run.define_metric(stage + "/*", step_metric=stage + "/step")
            self.run.log({**values, stage + "/step": step})
        if chains:
            self.run.log({"chains": self.library.Table(columns=columns, data=chains)})

    def close(self, status):
        self.run.finish(exit_code=0 if status == "done" else 1)


class Trackio:
    def __init__(self, library, target, id, settings, whole):
        self.library = library
        library.init(
            project=target, name=id, config=settings, resume="never" if whole else "allow",
            embed=False, auto_log_gpu=False, auto_log_cpu=False,
        )

    def send(self, points, columns, chains):
        for (stage, step), values in by_step(points):
            self.library.log(values, step=step)
        if chains:
            table = self.library.Table(data=[dict(zip(columns, row)) for row in chains])
            self.library.log({"chains": table}, step=max(row[columns.index("step")] for row in chains))

    def close(self, status):
        self.library.finish()


sink = None
for line in sys.stdin:
    try:
        message = json.loads(line)
        do = message.pop("do")
        if do == "open":
            sink = {"wandb": Wandb, "trackio": Trackio}[kind](importlib.import_module(kind), **message)
        else:
            getattr(sink, do)(**message)
        reply = {"ok": True}
    except BaseException as error:
        reply = {"ok": False, "reason": (str(error).strip() or type(error).__name__)[:500], "missing": isinstance(error, ImportError)}
    replies.write(json.dumps(reply) + "\n")
    replies.flush()
`
