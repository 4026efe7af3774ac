import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkExport, exportRun } from '../../src/stages/export/index.ts'
import { exampleSequences, makeRun } from './support.ts'

const config = (out: string, formats: string[]) => ({ formats, out, tokenizer: 'bytes' })

describe('checkExport', () => {
  /** Exports, corrupts the file, and checks. */
  async function corrupt(format: string, file: string, change: (text: string) => string) {
    const { run, out } = makeRun(exampleSequences())
    await exportRun(config(out, [format]), { run })
    const path = join(out, format, file)
    writeFileSync(path, change(readFileSync(path, 'utf8')))
    return (await checkExport(out, { run }))[0]!
  }

  it.each([
    ['axolotl', 'data.jsonl', '"train":false', '"train":true', 'part 1 of the stream is trained'],
    [
      'llama-factory-sharegpt',
      'data.jsonl',
      '"from":"observation"',
      '"from":"function_call"',
      'part 1 of the stream',
    ],
    [
      'trl-messages',
      'data.jsonl',
      'Varnholm harbor lighthouse',
      'Varnholm harbor  lighthouse',
      'part 1 of the stream',
    ],
    ['openai', 'data.jsonl', '"weight":1', '"weight":0', 'of the prompt'],
    ['llama-factory-alpaca', 'data.jsonl', 'Skarn', 'skarn', 'part 1 of the stream'],
    ['trl-tokens', 'data.jsonl', '"labels":[-100,-100', '"labels":[-100,1', 'token 2 is trained on'],
    ['tinker', 'datums.jsonl', '"weights":{"data":[0', '"weights":{"data":[1', 'token 2 is trained on'],
    ['trl-messages', 'data.jsonl', 'example-web', 'example-wob', 'it belongs to example-wob'],
    ['trl-messages', 'data.jsonl', '"completion"', '"completions"', 'cannot be read'],
  ])('detects a change in %s (%s: %s → %s)', async (format, file, from, to, words) => {
    const result = await corrupt(format, file, (text) => text.replace(from, to))
    expect(result.verdict).toBe('broken')
    expect(result.problems[0]).toContain('checksum differs')
    expect(result.problems[1]).toContain(words)
  })

  it('detects missing and extra rows', async () => {
    const fewer = await corrupt('openai', 'data.jsonl', (text) => text.slice(0, text.indexOf('\n') + 1))
    expect(fewer.problems[1]).toContain('its row is missing')
    const more = await corrupt('openai', 'data.jsonl', (text) => text + text)
    expect(more.problems[1]).toContain('more rows than sequences')
  })

  it('detects that the sequences of the run have changed', async () => {
    const { run, out } = makeRun(exampleSequences())
    await exportRun(config(out, ['verl-sft']), { run })
    const [example] = exampleSequences()
    run.append('sequence', { ...example!, prompt: [{ role: 'user', content: 'another' }] })
    expect((await checkExport(out))[0]).toMatchObject({ verdict: 'broken' })
  })

  it('reports that there is nothing to check', async () => {
    const { run, out } = makeRun(exampleSequences())
    mkdirSync(out)
    await expect(checkExport(out)).rejects.toThrow('no finished export')
    await exportRun(config(out, ['openai']), { run })
    const moved = readFileSync(join(out, 'openai', 'export.json'), 'utf8').replace(
      '"run": "../../r"',
      '"run": "../../gone"',
    )
    writeFileSync(join(out, 'openai', 'export.json'), moved)
    await expect(checkExport(out)).rejects.toMatchObject({
      fix: expect.stringContaining('coa export RUN --check'),
    })
  })
})
