import { expect, onTestFinished, test } from 'vitest'
import { openPyodide, openQuickjs } from '../../src/world/sandbox/index.ts'
import { isFull } from '../how-many.ts'
import { run } from './drivers.ts'

const RUNS = isFull ? 200 : 40

/**
 * Looks for traces of an earlier run everywhere it can, prints what it finds, then leaves traces in all of those
 * places. The trace is a name that a fresh interpreter cannot have.
 */
const probe = (round: number): string => `
import atexit, asyncio, builtins, collections, copyreg, decimal, gc, json, linecache, locale, math, os, random, re
import shutil, signal, string, sys, tempfile, threading, time, traceback, types, unittest, warnings, weakref
found = []
def check(name, bad):
    if bad: found.append(name)

check('globals', 'leftover' in globals())
check('builtins', hasattr(builtins, 'leftover') or builtins.print.__class__.__name__ != 'builtin_function_or_method')
check('open', builtins.open.__class__.__name__ != 'builtin_function_or_method')
check('modules', 'leftover' in sys.modules or 'telnetlib_leftover' in sys.modules)
check('imported late', 'wave' in sys.modules)
check('json', json.loads.__module__ != 'json')
check('math', hasattr(math, 'leftover'))
check('re cache', any('leftover' in str(key) for key in re._cache))
check('path', '/leftover' in sys.path or '/leftover' in sys.path_importer_cache)
check('meta path', any('Leftover' in type(finder).__name__ for finder in sys.meta_path))
check('argv', 'leftover' in sys.argv)
check('environment', 'LEFTOVER' in os.environ or os.getenv('LEFTOVER'))
check('cwd', os.getcwd() != '/box')
for folder in ('/tmp', '/box', '/home', '/', '/lib', '/dev', '/lib/python3.14', '/lib/python3.14/site-packages'):
    try: check('files in ' + folder, any('leftover' in name for name in os.listdir(folder)))
    except FileNotFoundError: found.append('gone ' + folder)
check('work folder', os.listdir('/box') != ['main.py'])
with open('/lib/python314.zip', 'rb') as library:
    check('library', library.read(2) != b'PK')
    library.seek(-20, 2)
    check('library end', b'leftover' in library.read())
check('mode', os.stat('/tmp').st_mode & 0o777 != 0o777)
check('descriptors', any(os.path.exists(f'/proc/self/fd/{n}') for n in range(3, 40)))
try:
    os.fstat(9); found.append('descriptor 9')
except OSError: pass
check('umask', os.umask(0o22) != STARTMASK)
check('atexit', atexit._ncallbacks() != STARTATEXIT)
check('threads', threading.active_count() != 1 or threading.current_thread().name != 'MainThread')
check('signal', signal.getsignal(signal.SIGINT) is not signal.default_int_handler)
check('locale', locale.setlocale(locale.LC_ALL) != STARTLOCALE)
check('warnings', any('leftover' in str(filter) for filter in warnings.filters))
check('hooks', sys.excepthook is not sys.__excepthook__ or sys.displayhook is not sys.__displayhook__)
check('trace', sys.gettrace() is not None or sys.getprofile() is not None)
check('recursion', sys.getrecursionlimit() == 4321)
check('digits', sys.get_int_max_str_digits() == 99999)
check('decimal', decimal.getcontext().prec == 77)
check('tempdir', tempfile.tempdir == '/leftover')
check('linecache', any('leftover' in name for name in linecache.cache))
check('copyreg', 'Leftover' in str(copyreg.dispatch_table))
check('subclasses', any('Leftover' in each.__name__ for each in object.__subclasses__()))
check('gc', any(type(each).__name__ == 'Leftover' for each in gc.get_objects()))
check('gc settings', not gc.isenabled() or gc.callbacks != [])
check('event loop', asyncio.events._get_running_loop() is not None or hasattr(asyncio, 'leftover'))
check('stdout', type(sys.stdout).__name__ != 'TextIOWrapper' or sys.stdout is not sys.__stdout__)
check('attributes', hasattr(unittest.TestCase, 'leftover') or hasattr(string, 'leftover') or hasattr(types, 'leftover'))
check('dunder main', hasattr(sys.modules['__main__'], 'leftover'))
check('interned class change', collections.OrderedDict.move_to_end.__class__.__name__ != 'method_descriptor')
check('frozen stdlib', time.sleep.__class__.__name__ != 'builtin_function_or_method')
check('path hooks', any('Leftover' in str(each) for each in sys.path_hooks))
check('stdin', sys.stdin.read() != 'line ${round}\\n')
print('found', found)
print('random', random.random())

leftover = 'secret of round ${round}'
class Leftover: pass
keep = Leftover(); keep.self = keep
builtins.leftover = leftover
builtins.print = lambda *values, **more: None
builtins.open = lambda *values, **more: 1 / 0
sys.modules['leftover'] = keep
import wave
json.loads = lambda text: leftover
math.leftover = leftover
re.compile('leftover')
sys.path.append('/leftover'); sys.path_importer_cache['/leftover'] = None
class LeftoverFinder:
    def find_spec(self, *values): return None
sys.meta_path.append(LeftoverFinder())
sys.path_hooks.append(LeftoverFinder)
sys.argv.append('leftover')
os.environ['LEFTOVER'] = leftover
import io
for folder in ('/tmp', '/box', '/home', '/', '/lib', '/lib/python3.14', '/lib/python3.14/site-packages'):
    os.makedirs(folder + '/leftover-folder', exist_ok=True)
    with io.open(folder + '/leftover.py', 'w') as file: file.write(leftover)
with io.open('/lib/python314.zip', 'r+b') as library:
    library.write(b'XX'); library.seek(0, 2); library.write(b'leftover')
${round % 3 === 0 ? "os.unlink('/lib/python314.zip')" : "os.rename('/lib/python314.zip', '/lib/leftover.zip')"}
os.chmod('/tmp', 0o555)
os.dup2(1, 9)
extra = [os.open('/box/leftover.py', os.O_RDONLY) for _ in range(20)]
os.umask(0)
atexit.register(lambda: sys.__stderr__.write(''))
threading.current_thread().name = 'leftover'
signal.signal(signal.SIGINT, signal.SIG_IGN)
warnings.filterwarnings('ignore', message='leftover')
sys.excepthook = lambda *values: None
sys.displayhook = lambda value: None
sys.setrecursionlimit(4321)
sys.set_int_max_str_digits(99999)
decimal.getcontext().prec = 77
tempfile.tempdir = '/leftover'
linecache.cache['leftover'] = (1, None, [], 'leftover')
copyreg.pickle(Leftover, lambda value: (Leftover, ()))
gc.disable(); gc.callbacks.append(print)
asyncio.leftover = leftover
unittest.TestCase.leftover = string.leftover = types.leftover = leftover
sys.modules['__main__'].leftover = leftover
time.sleep = lambda seconds: None
random.seed(1)
os.chdir('/leftover-folder')
sys.stdout = io.StringIO()
sys.setprofile(lambda *values: None)
${round % 4 === 0 ? 'os.close(1); os.close(0)' : ''}
${round % 5 === 0 ? 'big = [bytearray(1_000_000) for _ in range(60)]' : ''}
${round % 7 === 0 ? 'raise SystemExit(3)' : ''}
`

test('trusted programs run in workers that no other program has used', async () => {
  const driver = openQuickjs({ concurrency: 1 })
  onTestFinished(() => driver.close())
  const started: number[] = []
  for (const trusted of [false, true, false, true]) {
    const { exit } = await run(driver, {
      language: 'javascript',
      code: '1',
      trusted,
      limits: { cpuMs: 20_000 },
    })
    started.push(exit === 0 ? driver.started : -1)
  }
  expect(started).toEqual([1, 2, 2, 2])
})

// Retried once: a crashed interpreter says nothing about traces. Python 3.14 has been seen to crash while printing an
// exception.
test(`${RUNS} runs in one worker see nothing of each other`, {
  timeout: 240_000,
  retry: 1,
}, async () => {
  const driver = openPyodide({ concurrency: 1 })
  onTestFinished(() => driver.close())
  const limits = { wallMs: 60_000 }
  const start = await run(driver, {
    language: 'python',
    code: 'import atexit, os, locale\nprint(os.umask(0), locale.setlocale(locale.LC_ALL), atexit._ncallbacks())',
    limits,
  })
  const [mask, locale, atexit] = start.stdout.trim().split(' ')
  const numbers = new Set<string>()
  for (let round = 0; round < RUNS; round++) {
    const code = probe(round)
      .replace('STARTMASK', mask!)
      .replace('STARTLOCALE', `'${locale}'`)
      .replace('STARTATEXIT', atexit!)
    const result = await run(driver, { language: 'python', code, stdin: `line ${round}\n`, limits })
    const [found, random] = result.stdout.split('\n')
    expect(found, `round ${round}: ${result.stderr}`).toBe('found []')
    numbers.add(random!)
    expect(result.exit, result.stderr).toBe(round % 7 === 0 ? 3 : 0)
  }
  // All of them must use the same worker, or nothing was tested.
  expect(driver.started).toBe(1)
  // The snapshot contains no random state that all runs would share.
  expect(numbers.size).toBe(RUNS)
})
