import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  createFileAtomic,
  Draft,
  LineWriter,
  moveIntoPlace,
  removeLeftovers,
  swapFolder,
  temporaryPath,
  writeFileAtomic,
  writePartsAtomic,
} from './index.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-files-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
const at = (name: string): string => join(folder, name)
const text = (name: string): string => readFileSync(at(name), 'utf8')
const dead = (name: string): string => `.${name}.${hostname()}-4194305-0123456789ab.tmp`

test('replaces a file with the given permissions and leaves nothing else behind', () => {
  writeFileSync(at('a'), 'old')
  writeFileAtomic(at('a'), 'new', { mode: 0o600 })
  writeFileAtomic(at('b'), Buffer.from([104, 105]), { durable: false })
  expect([text('a'), text('b')]).toEqual(['new', 'hi'])
  expect(statSync(at('a')).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['a', 'b'])
})

test('keeps the old file if writing fails, and leaves nothing else behind', () => {
  writeFileSync(at('a'), 'old')
  const write = (): void =>
    writePartsAtomic(at('a'), (add) => {
      add(Buffer.from('ne'))
      throw new Error('no more')
    })
  expect(write).toThrow('no more')
  expect(text('a')).toBe('old')
  expect(readdirSync(folder)).toEqual(['a'])
})

test('reports the write error where nothing can be written', () => {
  writeFileSync(at('a'), '')
  expect(() => writeFileAtomic(at('a/b'), '')).toThrow(/ENOTDIR.*open/)
  expect(() => createFileAtomic(at('a/b'), '')).toThrow(/ENOTDIR.*open/)
})

test('creates a file only once', () => {
  expect([createFileAtomic(at('a'), 'one'), createFileAtomic(at('a'), 'two')]).toEqual([true, false])
  expect(text('a')).toBe('one')
  expect(readdirSync(folder)).toEqual(['a'])
})

test('a draft becomes visible when published, and publishing removes drafts of killed processes', () => {
  writeFileSync(at(dead('a')), '')
  writeFileSync(at(dead('b')), '')
  const draft = new Draft(at('a'))
  const lines = new LineWriter(draft.path)
  const many = Array.from({ length: 40_000 }, (_, line) => `${line} é\n`)
  for (const line of many) lines.write(line)
  lines.finish()
  expect(readdirSync(folder)).not.toContain('a')
  draft.publish()
  expect(text('a')).toBe(many.join(''))
  expect(readdirSync(folder)).toEqual([dead('b'), 'a'])
  const dropped = new Draft(at('c'))
  writeFileSync(dropped.path, '')
  dropped.discard()
  expect(readdirSync(folder)).toEqual([dead('b'), 'a'])
})

test('removes only temporary files of dead processes on this machine', () => {
  const others = ['.a.elsewhere-4194305-0123456789ab.tmp', 'a.tmp', `a-${hostname()}.tmp`]
  const living = temporaryPath(at('a'))
  for (const path of [...others, dead('a'), dead('b')].map(at)) writeFileSync(path, '')
  mkdirSync(living)
  removeLeftovers(folder)
  expect(readdirSync(folder).map(at).sort()).toEqual([living, ...others.map(at)].sort())
})

test('replaces a folder, and restores the old one if that fails', () => {
  for (const name of ['old', 'new']) {
    mkdirSync(at(name))
    writeFileSync(join(at(name), 'is'), name)
  }
  expect(() => swapFolder(at('none'), at('old'), at('aside'))).toThrow('ENOENT')
  expect(text('old/is')).toBe('old')
  swapFolder(at('new'), at('old'), at('aside'))
  expect(text('old/is')).toBe('new')
  expect(readdirSync(folder)).toEqual(['old'])
})

test('does not replace a folder that contains files', () => {
  for (const name of ['old', 'new']) {
    mkdirSync(at(name))
    writeFileSync(join(at(name), 'is'), name)
  }
  expect(() => moveIntoPlace(at('new'), at('old'))).toThrow()
  expect(text('old/is')).toBe('old')
})
