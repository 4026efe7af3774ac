import { attempts } from './hostile-attempts.ts'
import { crashed, failed, type HostileCase, survived } from './hostile-case.ts'
import { replacesComparison } from './wasm-attack.ts'

const wasm = ['pyodide'] as const

/** Programs that try to get from Python into the surrounding JavaScript. */
export const pythonAgainstPyodide: HostileCase[] = [
  {
    name: 'paths from Python to JavaScript',
    drivers: [...wasm],
    code: () =>
      attempts([
        "__import__('js')",
        "__import__('js').process",
        "__import__('pyodide_js')",
        "__import__('pyodide_js._api')",
        "__import__('pyodide.code').code.run_js('process')",
        "__import__('pyodide.ffi').ffi.to_js([]).constructor.constructor('return process')()",
        "__import__('pyodide.ffi').ffi.create_proxy(print)",
        "__import__('_pyodide_core').create_proxy(print)",
        "__import__('_pyodide_core').to_js([])",
        "__import__('pyodide.http')",
        "__import__('_pyodide._base')",
        "__import__('_ctypes')",
        "__import__('_testinternalcapi')",
        "__import__('_imp').create_builtin(type('Spec', (), {'name': '_pyodide_core', 'origin': None})()).create_proxy",
        "__import__('_imp').create_builtin(type('Spec', (), {'name': '_ctypes', 'origin': None})()).dlopen",
        "__import__('importlib.machinery').machinery.BuiltinImporter.find_spec('_pyodide_core').name",
        "__import__('importlib.machinery').machinery.BuiltinImporter.find_spec('_ctypes').name",
        "sys.modules['js']",
        'sys._getframe().f_back.f_back.f_back.f_back.f_globals',
      ]),
    expect: survived,
  },
  {
    name: 'JavaScript objects left in memory',
    drivers: [...wasm],
    code: () => `
import gc
seen, pending = set(), gc.get_objects()
while pending:
    thing = pending.pop()
    if id(thing) in seen: continue
    seen.add(id(thing))
    if any(base.__name__ in ('JsProxy', 'JsDoubleProxy') for base in type(thing).__mro__): print('LEAK', repr(thing)[:80])
    if type(thing).__name__ == 'dict' and (callable(thing.get('create_proxy')) or callable(thing.get('run_js'))): print('LEAK', list(thing)[:5])
    pending.extend(gc.get_referents(thing))
print('done', len(seen) > 10_000)`,
    limits: { wallMs: 30_000 },
    expect: survived,
  },
  {
    name: 'JavaScript types in use',
    drivers: [...wasm],
    code: () => `
import gc, sys
kinds = {thing for thing in gc.get_objects() if isinstance(thing, type) and 'JsProxy' in str(thing.__mro__)}
for kind in kinds:
    for make in (lambda: kind(), lambda: object.__new__(kind), lambda: kind.__new__(kind)):
        try:
            thing = make()
            print('LEAK', kind, thing.constructor)
        except BaseException as error: print('stopped', type(error).__name__)
print('done')`,
    limits: { wallMs: 10_000 },
    // Crashing the interpreter is allowed; extracting something from it is not.
    expect: (result) => survived(result) || failed(result),
  },
  {
    name: 'an event loop that continues after the end',
    drivers: [...wasm],
    code: () => `
import asyncio
async def forever():
    while True: await asyncio.sleep(0.01)
async def main():
    asyncio.get_running_loop().create_task(forever())
    await asyncio.sleep(0.05)
asyncio.run(main())
loop = asyncio.new_event_loop()
loop.call_later(0.01, print, 'LEAK')
print('done')`,
    expect: survived,
  },
  {
    name: 'native code of its own',
    drivers: [...wasm],
    code: () => `
import sys
header = bytes.fromhex('0061736d01000000')
with open('/tmp/evil.so', 'wb') as file: file.write(header)
sys.path.insert(0, '/tmp')
with open('/tmp/evil.cpython-314-wasm32-emscripten.so', 'wb') as file: file.write(header)
try:
    import evil
    print('LEAK', evil)
except ImportError as error: print('stopped', error)
print('LEAK: it goes on')`,
    // Any program that tries this is killed, together with whatever it may have prepared.
    expect: crashed,
  },
  {
    name: 'replaced integer comparison',
    drivers: [...wasm],
    code: () => `${replacesComparison}
print('LEAK', 31337 == int('5'))`,
    expect: crashed,
  },
  {
    name: 'names that an earlier program looked up',
    drivers: [...wasm],
    code: () => `
import socket
address = socket.gethostbyname('leftover.example')
if address != '172.29.1.0': print('LEAK', address)
print('done')`,
    expect: survived,
  },
  {
    name: 'names that an earlier program looked up, seen by the next',
    drivers: [...wasm],
    code: () => `
import socket
address = socket.gethostbyname('fresh.example')
if address != '172.29.1.0': print('LEAK', address)
print('done')`,
    expect: survived,
  },
]
