"""Assembles the server and runs it until it is stopped."""

import asyncio
import contextlib
import json
import logging
import os
import resource
import signal
import sys

from aiohttp import web

from .model.bases import FOLDER, UPLOAD, BaseModels, ModelOptions
from .model.learner import PassOptions
from .model.ranks import Ranks, join_ranks
from .options import Options
from .server.checkpoint_routes import CheckpointRoutes
from .server.database import Database
from .server.executor import Executor
from .server.future_routes import FutureRoutes
from .server.guard import guard
from .server.model_ops import ModelOps
from .server.paths import Folders
from .server.service import Service
from .server.session_routes import SessionRoutes
from .server.sources import SamplerOptions
from .server.uploads import Uploads

log = logging.getLogger(__name__)

MAX_OPEN_FILES = 65536


def make_bases(options: Options, ranks: Ranks | None = None) -> BaseModels:
    return BaseModels(
        options.models,
        ModelOptions(
            device=options.device if ranks is None else ranks.device,
            dtype=options.dtype,
            random_seed=options.random_seed,
            checkpointing=options.checkpointing,
            compile=options.compile,
        ),
        Folders(options.data).resolve,
    )


def make_service(options: Options, ranks: Ranks | None = None) -> Service:
    options.data.mkdir(parents=True, exist_ok=True)
    executor = Executor(
        make_bases(options, ranks),
        Database(options.data / "futures.sqlite"),
        Folders(options.data),
        PassOptions(options.batch_tokens, options.checkpointing),
        SamplerOptions(options.max_rows, options.cache_tokens),
        ranks,
    )
    return Service(executor)


def make_app(service: Service, options: Options, uploads: Uploads | None = None) -> web.Application:
    app = web.Application(middlewares=[guard(options.key)], client_max_size=options.body_limit)
    FutureRoutes(service, options.body_limit, options.poll_seconds).add_to(app)
    SessionRoutes(service, options.body_limit).add_to(app)
    uploads = uploads or Uploads(service.executor.folders, options.upload_limit)
    CheckpointRoutes(service, uploads, options.body_limit).add_to(app)
    return app


async def serve(options: Options, ranks: Ranks | None = None) -> None:
    service = make_service(options, ranks)
    loop = asyncio.get_running_loop()
    service.start(loop)
    # We decompress bodies ourselves, within the size limit; a client that disconnects cancels its handler.
    uploads = Uploads(service.executor.folders, options.upload_limit)
    runner = web.AppRunner(
        make_app(service, options, uploads), auto_decompress=False, handler_cancellation=True, access_log=None
    )
    await runner.setup()
    # Hundreds of sample requests arrive at once, each on its own connection.
    _raise_file_limit()
    site = web.TCPSite(runner, options.host, options.port, backlog=4096)
    await site.start()
    port = runner.addresses[0][1]
    host = f"[{options.host}]" if ":" in options.host else options.host
    ready = {
        "url": f"http://{host}:{port}",
        "device": str(options.device),
        "dtype": str(options.dtype).removeprefix("torch."),
        "pid": os.getpid(),
    }
    print(json.dumps(ready), flush=True)
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, ended.set)
    watch = asyncio.create_task(_watch(service, uploads, options.session_seconds))
    await ended.wait()
    log.info("shutting down")
    watch.cancel()
    await runner.cleanup()
    await asyncio.to_thread(service.close)
    service.executor.ops.end()
    service.database.close()


def _raise_file_limit() -> None:
    """Connections count as open files, and the default limit is often 1,024."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def _watch(service: Service, uploads: Uploads, seconds: float) -> None:
    while True:
        await uploads.remove_old(service.bases_in_use(UPLOAD))
        service.executor.folders.granted.remove_old(service.bases_in_use(FOLDER))
        await asyncio.sleep(min(60.0, max(1.0, seconds / 4)) if seconds > 0 else 60.0)
        if seconds > 0:
            service.park_idle(seconds)


def run(options: Options) -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    ranks = join_ranks(options.device)
    if ranks is None or ranks.is_leader:
        asyncio.run(serve(options, ranks))
    else:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        ModelOps(make_bases(options, ranks), PassOptions(options.batch_tokens, options.checkpointing), ranks).follow()
    if ranks is not None:
        ranks.close()
