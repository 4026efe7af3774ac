import { spawn } from 'node:child_process'
import { accessSync, constants, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { sha256, sha256OfFile } from '../../../base/digests/index.ts'
import { ensureFolder, writeFileAtomic } from '../../../base/files/index.ts'
import { cacheFolder } from '../../../settings/index.ts'
import { childFlags } from '../workers/node-flags.ts'

const known = new Map<string, Promise<string | undefined>>()

/**
 * An archive of Python's standard library with compiled modules, made on first use and kept in the cache folder: pyodide
 * has only sources, and compiling those that it needs takes two thirds of a start. Undefined if it cannot be made or kept;
 * then pyodide's own is used. `library` is the URL of pyodide's module in `folders`.
 */
export function compiledLibrary(library: string, folders: string[]): Promise<string | undefined> {
  const found = known.get(library)
  if (found !== undefined) return found
  const sources = readFileSync(join(folders.at(-1)!, 'python_stdlib.zip'))
  const name = `library-${digest(sha256(sources))}`
  const made = kept(join(cacheFolder(), 'pyodide'), name, () => compile(library, folders)).catch(
    () => undefined,
  )
  known.set(library, made)
  return made
}

/** A file with the digest of its content in its name; one that was damaged is made again. */
export async function kept(folder: string, name: string, make: () => Promise<Uint8Array>): Promise<string> {
  ensureFolder(folder)
  // The permission model checks what a link leads to.
  const real = realpathSync(folder)
  for (const file of readdirSync(real)) {
    const path = join(real, file)
    if (file.startsWith(`${name}-`) && file === fileName(name, sha256OfFile(path))) return path
  }
  // Before the work, which would be in vain.
  accessSync(real, constants.W_OK)
  const content = await make()
  const path = join(real, fileName(name, sha256(content)))
  writeFileAtomic(path, content, { durable: false })
  return path
}

const digest = (hash: string): string => hash.slice(0, 16)
const fileName = (name: string, hash: string): string => `${name}-${digest(hash)}.zip`

async function compile(library: string, folders: string[]): Promise<Uint8Array> {
  const name = `./compile-library.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`
  const flags = childFlags(new URL(name, import.meta.url), folders, 256)
  const child = spawn(process.execPath, [...flags, library], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve)
    child.once('error', reject)
  })
  const [compiled, code] = await Promise.all([buffer(child.stdout), ended])
  if (code !== 0) throw new Error(`the library could not be compiled: exit code ${code}`)
  return compiled
}
