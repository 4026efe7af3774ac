import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { SandboxError } from '../../../base/errors/index.ts'
import type { Language } from '../contract.ts'

/** An interpreter and every path it needs to read. */
export interface Interpreter {
  language: Language
  executable: string
  version: string
  paths: string[]
  /** A self-contained executable is mounted at this neutral path. */
  mountedAt?: string
}

/** Loads commonly used modules, so that their shared libraries appear in the memory map. */
const inspectPython = `
import json, sys
for name in ('ctypes', 'ssl', 'sqlite3', 'zlib', 'bz2', 'lzma', 'hashlib', 'decimal'):
    try: __import__(name)
    except ImportError: pass
with open('/proc/self/maps') as maps:
    mapped = {line.split(None, 5)[5].strip() for line in maps if '.so' in line}
print(json.dumps({'executable': sys.executable, 'version': sys.version.split()[0],
                  'prefixes': [sys.prefix, sys.base_prefix], 'libraries': sorted(mapped)}))
`
const inspectNode = `
const report = process.report.getReport()
console.log(JSON.stringify({ executable: process.execPath, version: process.versions.node,
                             prefixes: [], libraries: report.sharedObjects }))
`

const Inspection = z.object({
  executable: z.string(),
  version: z.string(),
  prefixes: z.array(z.string()),
  libraries: z.array(z.string()),
})

const execute = promisify(execFile)

/** Asks an interpreter for its paths. It runs outside the sandbox here, so it must be the user's own. */
export async function inspectInterpreter(language: Language, command: string): Promise<Interpreter> {
  const flags = language === 'python' ? ['-c', inspectPython] : ['-e', inspectNode]
  let found: z.infer<typeof Inspection>
  try {
    const { stdout } = await execute(command, flags, { timeout: 20_000 })
    found = Inspection.parse(JSON.parse(stdout))
  } catch (cause) {
    throw new SandboxError(`${command} does not work as a ${language} interpreter`, {
      fix: `Install ${language === 'python' ? 'Python 3' : 'Node'} or set its path in the sandbox options.`,
      cause,
    })
  }
  const folders = found.prefixes
    .flatMap((prefix) => [join(prefix, 'lib'), join(prefix, 'lib64'), join(prefix, 'pyvenv.cfg')])
    .filter((path) => existsSync(path))
  const libraries = found.libraries.filter((path) => path.startsWith('/') && existsSync(path))
  const known = { language, executable: found.executable, version: found.version }
  if (language === 'javascript') return { ...known, paths: withoutNested(libraries), mountedAt: '/opt/node' }
  // A symlinked interpreter also needs its real path, from which Python finds its library.
  const executables = [found.executable, realpathSync(found.executable)]
  const paths = [...new Set([...folders, ...executables, ...libraries])]
  return { ...known, paths: withoutNested(paths) }
}

/** Drops paths inside folders that are also listed. */
export function withoutNested(paths: string[]): string[] {
  const listed = new Set(paths)
  return paths.filter((path) => {
    for (let folder = dirname(path); folder !== '/' && folder !== '.'; folder = dirname(folder)) {
      if (listed.has(folder)) return false
    }
    return true
  })
}
