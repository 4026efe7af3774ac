import {
  crashed,
  failed,
  flooded,
  type HostileCase,
  outOfMemory,
  survived,
  timedOut,
} from './hostile-case.ts'

const native = ['bubblewrap'] as const

/** Programs that use too many resources, or do not end. */
export const pythonInExcess: HostileCase[] = [
  {
    name: 'a fork bomb',
    code: () => 'import os\nwhile True:\n    try: os.fork()\n    except OSError: pass',
    limits: { wallMs: 1_500 },
    expect: (result) => failed(result),
  },
  {
    name: 'more processes than allowed',
    drivers: [...native],
    code: () => `
import os, time
born = 0
try:
    while born < 500:
        if os.fork() == 0:
            time.sleep(30)
        born += 1
except OSError as error:
    print('stopped', error)
print('LEAK' if born > 8 else 'done', born)`,
    limits: { processes: 8 },
    expect: survived,
  },
  {
    name: 'more threads than allowed',
    code: () => `
import threading, time
born = 0
try:
    while born < 500:
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
        born += 1
except (RuntimeError, MemoryError) as error:
    print('stopped', error)
print('LEAK' if born > 20 else 'done')`,
    expect: survived,
  },
  { name: 'endless output', code: () => 'while True: print("x" * 1000)', expect: flooded },
  {
    name: 'endless output that ignores errors',
    code: () => 'while True:\n    try: print("x" * 1000)\n    except BaseException: pass',
    expect: flooded,
  },
  {
    name: 'endless output on stderr',
    code: () => 'import os\nwhile True: os.write(2, b"x" * 100000)',
    expect: flooded,
  },
  {
    name: '10 GB at once',
    code: () => 'data = bytearray(10 * 2**30)\nprint("LEAK", len(data))',
    expect: failed,
  },
  {
    name: 'gradual memory growth',
    code: () => 'held = []\nfor _ in range(1024): held.append(bytearray(10_000_000))\nprint("LEAK")',
    expect: outOfMemory,
  },
  {
    name: 'memory in many processes',
    drivers: [...native],
    code: () => `
import os, time
for _ in range(12):
    if os.fork() == 0:
        held = bytearray(b'x') * 100_000_000
        time.sleep(60)
time.sleep(60)`,
    limits: { memoryMb: 128, wallMs: 20_000 },
    expect: outOfMemory,
  },
  {
    name: 'sleeping forever',
    code: () => 'import time\ntime.sleep(10**6)',
    limits: { wallMs: 500 },
    expect: timedOut,
  },
  {
    name: 'spinning, with signals ignored',
    code: () => `
import signal
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError, RuntimeError): pass
while True:
    try:
        while True: pass
    except BaseException: pass`,
    limits: { wallMs: 700 },
    expect: timedOut,
  },
  {
    name: 'exceeding the CPU time limit',
    code: () => 'while True: pass',
    limits: { wallMs: 30_000, cpuMs: 500 },
    expect: (result) => timedOut(result) && result.ms < 25_000,
  },
  {
    name: 'daemons',
    drivers: [...native],
    code: () => `
import os, time
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in range(3): os.close(descriptor)
            while True: time.sleep(1)
        os._exit(0)
time.sleep(0.2)
print('done')`,
    expect: survived,
  },
  {
    name: 'continuing after closing stdout',
    code: () =>
      'import os\nfor descriptor in range(64):\n    try: os.close(descriptor)\n    except OSError: pass\nwhile True: pass',
    limits: { wallMs: 700 },
    expect: timedOut,
  },
  {
    name: 'a compression bomb',
    code: () => `
import zlib
pack = zlib.compressobj(9)
block = bytes(10_000_000)
bomb = b''.join([pack.compress(block) for _ in range(100)] + [pack.flush()])
print(len(bomb))
print('LEAK', len(zlib.decompress(bomb)))`,
    limits: { wallMs: 60_000 },
    expect: outOfMemory,
  },
  {
    name: 'a regular expression bomb',
    code: () => 'import re\nre.match("(a+)+$", "a" * 60 + "b")',
    limits: { wallMs: 700 },
    expect: timedOut,
  },
  {
    name: 'recursion',
    code: () => 'def again(): again()\ntry: again()\nexcept RecursionError: print("done")',
    expect: survived,
  },
  {
    name: 'recursion until a crash',
    code: () => `
import sys
sys.setrecursionlimit(10**9)
class Deep:
    def __eq__(self, other): return [self] == [other]
Deep() == Deep()`,
    limits: { wallMs: 10_000 },
    expect: failed,
  },
  { name: 'a huge number', code: () => 'x = 10 ** (10 ** 10)', limits: { wallMs: 1_000 }, expect: failed },
  {
    name: 'a crash',
    code: () => 'import os\nos.abort()',
    expect: (result) => crashed(result) && result.signal === 'SIGABRT',
  },
  {
    name: 'a write to address zero',
    drivers: [...native],
    code: () => 'import ctypes\nctypes.string_at(0)',
    expect: (result) => crashed(result) && result.signal === 'SIGSEGV',
  },
  {
    name: 'filling the disk',
    code: () => `
import os
total = 0
for folder in ('/box', '/tmp', '/dev/shm', '/dev', '/run', '/'):
    for number in range(50):
        try:
            with open(f'{folder}/{number}', 'wb') as file:
                for _ in range(64):
                    file.write(b'x' * 1_000_000)
                    file.flush()
                    total += 1
        except OSError as error: last = error
print('stopped', last)
print('LEAK' if total > 16 else 'done', total)`,
    limits: { fileBytes: 4_000_000, wallMs: 10_000 },
    expect: survived,
  },
  {
    name: 'filling the disk with unlinked files',
    code: () => `
import os
held, written = [], 0
try:
    for number in range(100):
        file = open('/tmp/%d' % number, 'wb')
        held.append(file)
        os.unlink('/tmp/%d' % number)
        for _ in range(16):
            file.write(bytes(2**20))
            file.flush()
            written += 1
except OSError as error: print('stopped', error)
if written > 100: print('LEAK', written)
for file in held: file.close()
with open('/tmp/again', 'wb') as file: file.write(bytes(2**20))
print('done')`,
    limits: { cpuMs: 20_000, memoryMb: 512 },
    expect: survived,
  },
  {
    name: 'a file beyond the limit',
    code: () => `
import os
try:
    with open('/box/big', 'wb') as file:
        file.truncate(5_000_000_000)
        print('LEAK')
except OSError as error: print('done', error)`,
    expect: survived,
  },
  {
    name: 'all descriptors',
    code: () => `
import os
held = []
try:
    while len(held) < 100_000: held.append(os.open('/box/main.py', os.O_RDONLY))
    print('LEAK')
except OSError as error: print('done', error)`,
    expect: survived,
  },
  {
    name: 'an exit handler that never ends',
    code: () =>
      'import atexit\n@atexit.register\ndef last():\n    while True: pass\nprint("over", flush=True)',
    limits: { wallMs: 5_000 },
    expect: (result) => timedOut(result) && result.stdout === 'over\n',
  },
  {
    name: 'an exception that resists being shown',
    code: () => `
import sys
class Nasty(BaseException):
    def __str__(self): raise Nasty()
    __repr__ = __str__
sys.excepthook = lambda *values: 1 / 0
sys.stderr = None
raise Nasty()`,
    expect: (result) => result.exit === 1,
  },
  {
    name: 'strange exit codes',
    code: () => 'raise SystemExit(10**40)',
    expect: (result) => typeof result.exit === 'number',
  },
]
