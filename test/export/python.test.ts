import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { byteTokenizerFiles } from '../../src/language/tokens/index.ts'
import { checkExport, exportRun } from '../../src/stages/export/index.ts'
import { realPath } from '../tokens/load.ts'
import { pythonWithPackages } from './python-packages.ts'
import { exampleSequences, formatNames, makeRun, troubledSequences } from './support.ts'

const found = pythonWithPackages()
if ('missing' in found)
  console.warn(`SKIPPED: exports are not opened with the Python libraries: ${found.missing}`)

interface Comparison {
  tokens: { rows: number; tokens: number; different: number }
  straddling: number
  lines: Record<string, boolean>
  verl: { messages: boolean; tasks: number; gold: boolean }
  trl: null | (Record<'kept' | 'collated' | 'trains', boolean> & { messages: number; version: string })
}

async function compare(folderOf: (folder: string) => string) {
  const sequences = [...exampleSequences(), ...troubledSequences()]
  const { run, folder, out } = makeRun(sequences)
  const tokenizer = folderOf(folder)
  await exportRun({ formats: formatNames, out, tokenizer }, { run })
  const checks = await checkExport(out)
  writeFileSync(
    join(out, 'sequences.jsonl'),
    sequences.map((sequence) => `${JSON.stringify(sequence)}\n`).join(''),
  )
  const script = fileURLToPath(new URL('compare_exports.py', import.meta.url))
  const { python } = found as { python: string }
  const { status, stdout, stderr } = spawnSync(python, [script, out, tokenizer], { encoding: 'utf8' })
  expect(status, stderr.slice(-3000)).toBe(0)
  const comparison = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Comparison
  console.info(`opened with Python: ${JSON.stringify(comparison)}`)
  return { comparison, checks, count: sequences.length }
}

function writeByteTokenizer(folder: string): string {
  const path = join(folder, 'bytes')
  const { json, config } = byteTokenizerFiles()
  mkdirSync(path)
  writeFileSync(join(path, 'tokenizer.json'), JSON.stringify(json))
  writeFileSync(join(path, 'tokenizer_config.json'), JSON.stringify(config))
  return path
}

describe.skipIf('missing' in found)('opened with the real libraries', () => {
  it.each([
    ['Qwen 2.5', () => realPath('qwen2_5')],
    ['one token per byte', writeByteTokenizer],
  ])('labels match token by token: %s', async (_name, folderOf) => {
    const { comparison, checks, count } = await compare(folderOf)
    const { tokens, straddling, lines, verl, trl } = comparison
    expect(tokens).toMatchObject({ rows: count, different: 0 })
    expect(lines).toEqual(Object.fromEntries(Object.keys(lines).map((format) => [format, true])))
    expect(verl).toMatchObject({ messages: true, gold: true })
    const figures = checks.find(({ format }) => format === 'axolotl')!.figures
    expect(straddling).toBe(figures['tokens that straddle parts, masked by the trainer'] ?? 0)
    if (trl === null) console.warn('SKIPPED: trl is not installed, because its torch would bring CUDA')
    else expect(trl).toMatchObject({ kept: true, collated: true, trains: true, messages: count })
  })
})
