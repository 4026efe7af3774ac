import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { SandboxError } from '../../../base/errors/index.ts'
import type { Language } from '../contract.ts'

/** A program to run code with, and every path it needs to see. */
export interface Interpreter {
  language: Language
  executable: string
  version: string
  paths: string[]
  /** A single file that runs from anywhere is shown at this neutral place. */
  shownAt?: string
}

/** Loads what programs commonly load, so that the libraries behind those modules show up in the map. */
const askPython = `
import json, sys
for name in ('ctypes', 'ssl', 'sqlite3', 'zlib', 'bz2', 'lzma', 'hashlib', 'decimal'):
    try: __import__(name)
    except ImportError: pass
with open('/proc/self/maps') as maps:
    mapped = {line.split(None, 5)[5].strip() for line in maps if '.so' in line}
print(json.dumps({'executable': sys.executable, 'version': sys.version.split()[0],
                  'prefixes': [sys.prefix, sys.base_prefix], 'libraries': sorted(mapped)}))
`
const askNode = `
const report = process.report.getReport()
console.log(JSON.stringify({ executable: process.execPath, version: process.versions.node,
                             prefixes: [], libraries: report.sharedObjects }))
`

const Answer = z.object({
  executable: z.string(),
  version: z.string(),
  prefixes: z.array(z.string()),
  libraries: z.array(z.string()),
})

const execute = promisify(execFile)

/** Asks an interpreter where it lives. It runs outside the sandbox here, so it must be the user's own. */
export async function askInterpreter(language: Language, command: string): Promise<Interpreter> {
  const flags = language === 'python' ? ['-c', askPython] : ['-e', askNode]
  let answer: z.infer<typeof Answer>
  try {
    const { stdout } = await execute(command, flags, { timeout: 20_000 })
    answer = Answer.parse(JSON.parse(stdout))
  } catch (cause) {
    throw new SandboxError(`${command} cannot be run as ${language} interpreter`, {
      fix: `Install ${language === 'python' ? 'Python 3' : 'Node'} or name it in the sandbox options.`,
      cause,
    })
  }
  const folders = answer.prefixes
    .flatMap((prefix) => [join(prefix, 'lib'), join(prefix, 'lib64'), join(prefix, 'pyvenv.cfg')])
    .filter((path) => existsSync(path))
  const libraries = answer.libraries.filter((path) => path.startsWith('/') && existsSync(path))
  const known = { language, executable: answer.executable, version: answer.version }
  if (language === 'javascript') return { ...known, paths: topmost(libraries), shownAt: '/opt/node' }
  // A link to the interpreter leads to its real place, from where Python finds its library.
  const executables = [answer.executable, realpathSync(answer.executable)]
  const paths = [...new Set([...folders, ...executables, ...libraries])]
  return { ...known, paths: topmost(paths) }
}

/** Drops what lies in a folder that is listed anyway. */
export function topmost(paths: string[]): string[] {
  const listed = new Set(paths)
  return paths.filter((path) => {
    for (let folder = dirname(path); folder !== '/' && folder !== '.'; folder = dirname(folder)) {
      if (listed.has(folder)) return false
    }
    return true
  })
}
