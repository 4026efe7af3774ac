import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { SandboxRequest } from '../contract.ts'
import { kept } from './compiled-library.ts'
import { openPyodide } from './driver.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-library-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let made = 0
const make = async (): Promise<Uint8Array> => new TextEncoder().encode(`archive ${made++ % 2}`)

describe('a kept archive', () => {
  it('is made once', async () => {
    const path = await kept(join(folder, 'a', 'b'), 'library-1', make)
    expect(readFileSync(path, 'utf8')).toBe('archive 0')
    expect(await kept(join(folder, 'a', 'b'), 'library-1', make)).toBe(path)
    expect(made).toBe(1)
    expect(readdirSync(join(folder, 'a', 'b')).length).toBe(1)
  })

  it('is made again if it is damaged, or of another library', async () => {
    const own = join(folder, 'damaged')
    const path = await kept(own, 'library-1', make)
    writeFileSync(path, 'archive !')
    const again = await kept(own, 'library-1', make)
    expect(readFileSync(again, 'utf8')).toMatch(/^archive \d$/)
    expect(await kept(own, 'library-1', make)).toBe(again)
    expect(await kept(own, 'library-2', make)).not.toBe(again)
  })

  it('has the path that links lead to', async () => {
    mkdirSync(join(folder, 'real'))
    symlinkSync(join(folder, 'real'), join(folder, 'link'))
    const path = await kept(join(folder, 'link'), 'library-1', make)
    expect(await kept(join(folder, 'real'), 'library-1', make)).toBe(path)
  })

  it('is not made where it cannot be kept', async () => {
    writeFileSync(join(folder, 'file'), '')
    const before = made
    await expect(kept(join(folder, 'file', 'folder'), 'library-1', make)).rejects.toThrow()
    expect(made).toBe(before)
  })
})

it('programs find the compiled modules, and tracebacks the sources', async () => {
  const driver = openPyodide({ concurrency: 1 })
  const code = `
import json, sys, zipfile
library = next(path for path in sys.path if path.endswith('.zip'))
names = set(zipfile.ZipFile(library).namelist())
print({'json/__init__.py', 'json/__init__.pyc', 'tomllib/__init__.pyc'} <= names)
json.loads('{')`
  const { stdout, stderr } = await driver.run(SandboxRequest.parse({ language: 'python', code }))
  await driver.close()
  expect(stdout).toBe('True\n')
  expect(stderr).toContain('/json/__init__.py", line')
  expect(stderr).toContain('return _default_decoder.decode(s)')
})
