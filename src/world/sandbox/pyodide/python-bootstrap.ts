/** Imported before the snapshot, so that commonly used modules cost programs nothing. */
const commonModules = [
  ...[
    'abc',
    'argparse',
    'array',
    'asyncio',
    'base64',
    'bisect',
    'builtins',
    'calendar',
    'cmath',
    'collections',
  ],
  ...[
    'contextlib',
    'copy',
    'csv',
    'dataclasses',
    'datetime',
    'decimal',
    'enum',
    'fractions',
    'functools',
    'gc',
  ],
  ...[
    'glob',
    'hashlib',
    'heapq',
    'inspect',
    'io',
    'itertools',
    'json',
    'linecache',
    'math',
    'numbers',
    'operator',
  ],
  ...[
    'os',
    'pathlib',
    'pprint',
    'queue',
    'random',
    're',
    'secrets',
    'shutil',
    'statistics',
    'string',
    'struct',
  ],
  ...['sys', 'tempfile', 'textwrap', 'threading', 'time', 'traceback', 'types', 'typing', 'unittest', 'uuid'],
  ...['warnings', 'zlib'],
]

/**
 * Runs in the interpreter once, before the snapshot. `_run` is called for each program; `_seal` cuts every path from
 * Python to JavaScript, and `_proxies_left` reports any that remain.
 */
export const pythonBootstrap = `
import atexit, gc, os, sys, time, types
for _name in ${JSON.stringify(commonModules)}:
    __import__(_name)
import asyncio, random, traceback

class _Clock:
    """Replaces the selector: without sockets, an event loop can only wait for time to pass."""
    def select(self, timeout):
        if timeout is None:
            raise RuntimeError('the event loop is waiting for something that cannot happen in this sandbox')
        if timeout > 0:
            time.sleep(timeout)
        return []

class _EventLoop(asyncio.BaseEventLoop):
    """Runs to completion within one call, where pyodide's own would continue afterwards in JavaScript timers."""
    def __init__(self):
        super().__init__()
        self._selector = _Clock()
    def _process_events(self, events):
        pass
    def _write_to_self(self):
        pass

class _EventLoopPolicy(asyncio.events._BaseDefaultEventLoopPolicy):
    _loop_factory = _EventLoop

def _run(path):
    with open(path, encoding='utf-8', newline='') as file:
        source = file.read()
    random.seed()
    module = types.ModuleType('__main__')
    module.__file__ = path
    sys.modules['__main__'] = module
    sys.argv = [path]
    code = 0
    try:
        exec(compile(source, path, 'exec', dont_inherit=True), module.__dict__)
    except SystemExit as stop:
        code = _exit_code(stop.code)
    except BaseException as error:
        code = 130 if isinstance(error, KeyboardInterrupt) else 1
        _report(error)
    try:
        atexit._run_exitfuncs()
    except BaseException:
        pass
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            code = code or 120
    return code

def _exit_code(value):
    if value is None:
        return 0
    if isinstance(value, int):
        return int(value) & 255
    try:
        print(value, file=sys.stderr)
    except BaseException:
        pass
    return 1

def _report(error):
    # The first frame is _run itself.
    trace = error.__traceback__ and error.__traceback__.tb_next
    try:
        sys.excepthook(type(error), error.with_traceback(trace), trace)
    except BaseException:
        try:
            traceback.print_exception(type(error), error, trace, file=sys.__stderr__)
        except BaseException:
            pass

class _Absent:
    """Reports modules that are in the library but no longer work as not installed."""
    def __init__(self, names):
        self.names = names
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in self.names:
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)

def _seal():
    os.environ.clear()
    os.environ.update({'PATH': '/usr/bin:/bin', 'HOME': '/box', 'LANG': 'C.UTF-8'})
    asyncio.events._event_loop_policy = _EventLoopPolicy()
    asyncio.events._set_running_loop(None)
    sys.excepthook, sys.displayhook = sys.__excepthook__, sys.__displayhook__
    # Pyodide's versions of these two call into JavaScript.
    asyncio.run = asyncio.run.__wrapped__
    time.sleep = time.sleep.__wrapped__
    foreign = ('js', 'pyodide_js', 'pyodide', '_pyodide', '_pyodide_core')
    for finder in sys.meta_path:
        getattr(finder, 'jsproxies', {}).clear()
    sys.meta_path[:] = [
        finder for finder in sys.meta_path
        if getattr(finder, '__module__', type(finder).__module__).split('.')[0] not in foreign
    ]
    sys.meta_path.insert(0, _Absent(foreign))
    sys.path[:] = ['/box'] + [path for path in sys.path if path not in ('', '/box')]
    for name in list(sys.modules):
        if name.split('.')[0] in foreign:
            del sys.modules[name]
    # C code keeps some modules alive, and a copy of their contents for the next import, so they are emptied in place.
    for thing in gc.get_objects():
        if type(thing) is dict:
            if 'create_proxy' in thing or 'run_js' in thing:
                thing.clear()
                continue
            for key, value in list(thing.items()):
                if _is_proxy(value):
                    thing[key] = None
        elif type(thing).__name__ == 'JsLoader':
            thing.__dict__.clear()
    gc.collect()

def _is_proxy(thing):
    return any(base.__name__ == 'JsProxy' for base in type(thing).__mro__)

def _proxies_left():
    seen = set()
    pending = gc.get_objects()
    found = []
    while pending:
        thing = pending.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if _is_proxy(thing):
            found.append(repr(thing)[:80])
        else:
            pending.extend(gc.get_referents(thing))
    return ', '.join(found)
`
