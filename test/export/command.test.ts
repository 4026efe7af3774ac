import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formats } from '../../src/stages/export/index.ts'
import { coa, coaJson } from '../cli/coa.ts'
import { grammars } from '../grammar/arbitraries.ts'
import { exampleSequences, formatNames, makeRun } from './support.ts'

describe('coa export', () => {
  it('exports, checks, skips finished work, and detects a change', () => {
    const { run, folder, out } = makeRun(exampleSequences())
    const args = ['export', run.dir, '--format', 'trl-tokens,verl-sft', '--tokenizer', 'bytes', '--out', out]
    const dry = coaJson<{ formats: Array<{ status: string }> }>([...args, '--dry-run'], { cwd: folder })
    expect(dry.formats.map(({ status }) => status)).toEqual(['not written', 'not written'])
    expect(existsSync(out)).toBe(false)
    const first = coa([...args, '--check'], { cwd: folder })
    expect(first.code, first.stderr).toBe(0)
    expect(first.stdout).toContain(`trl-tokens: same; ${grammars.length} of ${grammars.length} rows`)
    expect(coa(args, { cwd: folder }).stdout).toContain('already exists')
    const path = join(out, 'trl-tokens', 'data.jsonl')
    writeFileSync(path, readFileSync(path, 'utf8').replace('-100', '7'))
    const corrupted = coa(['export', '--check', out], { cwd: folder })
    expect(corrupted.code).toBe(3)
    expect(corrupted.stdout).toContain('trl-tokens: broken')
    expect(corrupted.stdout).toContain('verl-sft: same')
  })

  it('suggests what to do instead', () => {
    const { run, folder } = makeRun(exampleSequences())
    const failing = (args: string[]) => coa(['export', ...args], { cwd: folder })
    expect(failing([])).toMatchObject({ code: 2, stderr: expect.stringContaining('no run given') })
    expect(failing([run.dir])).toMatchObject({ code: 2, stderr: expect.stringContaining('--format') })
    expect(failing([run.dir, '-f', 'opanai', '-o', 'x']).stderr).toContain('Did you mean "openai"?')
    expect(failing(['--check', folder]).stderr).toContain('no finished export')
  })

  it('writes no token ids without a tokenizer', () => {
    const { run, folder, out } = makeRun(exampleSequences())
    for (const format of ['trl-tokens', 'tinker']) {
      const refused = coa(['export', run.dir, '-f', `trl-messages,${format}`, '-o', out], { cwd: folder })
      expect(refused.code).toBe(2)
      expect(refused.stderr).toContain(`${format} contains token ids, but no tokenizer is named`)
      expect(refused.stderr).toContain('--tokenizer FOLDER')
    }
    expect(existsSync(out)).toBe(false)
    expect(coa(['export', run.dir, '-f', 'trl-messages', '-o', out], { cwd: folder }).code).toBe(0)
  })

  it('names every format in its help', () => {
    const { stdout } = coa(['export', '--help'])
    expect(formats.map(({ name }) => name)).toEqual(formatNames)
    for (const name of formatNames) expect(stdout).toContain(name)
  })
})
