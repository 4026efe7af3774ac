import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRun } from '../../src/store/index.ts'
import { coa, coaJson } from './coa.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'coa-report-command-'))
  using run = createRun(join(cwd, 'runs'), { id: 'one', command: 'coa teach', coa: '0.0.0' })
  run.metric({ stage: 'sft', step: 1, loss: 3.5 })
})
afterEach(() => rmSync(cwd, { recursive: true }))

test('writes the page and prints its path as text, alone, and as JSON', () => {
  const text = coa(['run', 'report', 'latest'], { cwd })
  const { path, run } = coaJson<{ path: string; run: string }>(['run', 'report', 'one'], { cwd })
  expect(run).toBe('one')
  expect(path).toMatch(/runs\/one\/report\.html$/)
  expect(text.stdout.split('\n')[0]).toBe(`✓ ${path}`)
  expect(coa(['run', 'report', 'one', '--open-path-only'], { cwd }).stdout).toBe(`${path}\n`)
  expect(readFileSync(path, 'utf8')).toContain('aria-label="Loss: training 3.5"')
})

test('an unknown run is a usage error', () => {
  const { code, stderr } = coa(['run', 'report', 'on'], { cwd })
  expect(code).toBe(2)
  expect(stderr).toContain('Did you mean "one"?')
})
