/**
 * Entry point of a process that compiles Python's standard library with pyodide and writes the archive, sources included,
 * to stdout. Started with Node's permission model, like a worker.
 */
import type { FileSystem } from './internals.ts'

const program = `
import importlib.util, sys, zipfile
from importlib._bootstrap_external import _code_to_hash_pyc

def _add(archive, name, data):
    archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)

_library = next(path for path in sys.path if path.endswith('.zip'))
with zipfile.ZipFile(_library) as sources, zipfile.ZipFile('/compiled.zip', 'w') as archive:
    for name in sources.namelist():
        source = sources.read(name)
        _add(archive, name, source)
        if name.endswith('.py'):
            code = compile(source, f'{_library}/{name}', 'exec', dont_inherit=True)
            # Never compared with the source, which cannot change.
            _add(archive, f'{name}c', _code_to_hash_pyc(code, importlib.util.source_hash(source), False))
`

const { loadPyodide } = (await import(process.argv[2]!)) as typeof import('pyodide')
Object.defineProperty(process, 'binding', { value: () => ({ fs: {} }) })
const python = await loadPyodide({ jsglobals: Object.create(null), env: { HOME: '/box', LANG: 'C.UTF-8' } })
python.runPython(program)
const { readFile } = python.FS as unknown as FileSystem
process.stdout.write(readFile('/compiled.zip'))
