import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkExport, exportRun } from '../../src/stages/export/index.ts'
import { readParquetRows } from '../../src/store/index.ts'
import { grammars } from '../grammar/arbitraries.ts'
import { realPath } from '../tokens/load.ts'
import { anySequence, exampleSequences, formatNames, keep, makeRun, troubledSequences } from './support.ts'

const config = (out: string, formats = formatNames) => ({ formats, out, tokenizer: 'bytes' })

const readLines = (path: string): Array<Record<string, unknown>> =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

/** Every file of a folder, by name. */
function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(folder.length), readFileSync(path, 'latin1')]
    }),
  )
}

describe('exportRun', () => {
  it('writes every format, and the check finds the same trained and masked text', async () => {
    const { run, out } = makeRun([...exampleSequences(), ...troubledSequences()])
    const { formats } = await exportRun(config(out), { run })
    expect(formats.map(({ status }) => status)).toEqual(formatNames.map(() => 'written'))
    const results = await checkExport(out)
    for (const { format, verdict, problems, rows, same, figures } of results) {
      expect(problems, format).toEqual([])
      expect(rows, format).toBe(format === 'verl-rl' ? 4 : grammars.length + 4)
      if (format === 'llama-factory-alpaca') {
        expect(verdict).toBe('differs as stated')
        expect(figures['characters of observations trained on']).toBeGreaterThan(500)
      } else expect([format, verdict, same]).toEqual([format, 'same', rows])
    }
  })

  it('round-trips random sequences through files, and skips those it cannot express with reasons', async () => {
    const sequences = fc.sample(anySequence, { numRuns: 400, seed: 7 }).map((sequence, at) => ({
      ...sequence,
      id: `s${at}`,
    }))
    const { run, out } = makeRun(sequences)
    const { formats } = await exportRun(config(out), { run })
    for (const { format, counts, leftOut } of formats) {
      if (format === 'verl-rl') continue
      expect(counts.sequences + counts.leftOut).toBe(400)
      expect(counts.sequences, format).toBeGreaterThan(30)
      const reasons = Object.values(leftOut).reduce((sum, { count }) => sum + count, 0)
      expect(reasons).toBe(counts.leftOut)
    }
    for (const { format, verdict } of await checkExport(out, { run })) {
      expect([format, verdict]).toEqual([
        format,
        format === 'llama-factory-alpaca' ? 'differs as stated' : 'same',
      ])
    }
  })

  it('exports what the filter kept, in order, repeated by weight', async () => {
    const { run, out } = makeRun(exampleSequences())
    keep(run, [{ id: 'example-math', weight: 3 }, { id: 'example-web' }])
    writeFileSync(join(run.dir, 'filter', 'funnel.json'), '{"stages":[{"name":"complexity"}]}')
    const ids = (folder: string) =>
      readLines(join(folder, 'trl-messages', 'data.jsonl')).map((row) => row['id'])
    const { selection } = await exportRun(config(out, ['trl-messages', 'tinker']), { run })
    expect(selection).toBe('filter')
    expect(ids(out)).toEqual(['example-math', 'example-math', 'example-math', 'example-web'])
    expect(readFileSync(join(out, 'trl-messages', 'README.md'), 'utf8')).toContain('"complexity"')
    expect((await checkExport(out)).map(({ verdict, rows }) => [verdict, rows])).toEqual([
      ['same', 4],
      ['same', 4],
    ])
    const all = join(out, 'all')
    await exportRun({ ...config(all, ['trl-messages']), all: true }, { run })
    expect(ids(all)).toHaveLength(grammars.length)
  })

  it('reports a missing sequence and an invalid weight', async () => {
    const { run, out } = makeRun(exampleSequences())
    keep(run, [{ id: 'lost' }])
    await expect(exportRun(config(out, ['openai']), { run })).rejects.toMatchObject({
      message: expect.stringContaining('"lost"'),
      fix: expect.stringContaining('coa filter'),
    })
    keep(run, [{ id: 'example-web', weight: 0.5 }])
    await expect(exportRun(config(out, ['openai']), { run })).rejects.toThrow('kept.jsonl:1')
    expect(readdirSync(join(out, 'openai'))).toEqual([])
  })

  it('rejects a sequence that has changed since it was filtered', async () => {
    const { run, out } = makeRun(exampleSequences())
    keep(run, [{ id: 'example-web' }])
    const sequence = run.get('sequence', 'example-web')!
    run.append('sequence', { ...sequence, meta: { ...sequence.meta, changed: true } })
    await expect(exportRun(config(out, ['openai']), { run })).rejects.toThrow('has changed since')
  })

  it('is reproducible byte for byte, and does nothing if the files exist', async () => {
    const { run, out } = makeRun(exampleSequences())
    await exportRun(config(join(out, 'a')), { run })
    await exportRun(config(join(out, 'b')), { run })
    expect(contents(join(out, 'a'))).toEqual(contents(join(out, 'b')))
    const again = await exportRun(config(join(out, 'a')), { run })
    expect(again.formats.every(({ status }) => status === 'already exists')).toBe(true)
    run.append('sequence', troubledSequences()[0]!)
    const changed = await exportRun(config(join(out, 'a')), { run })
    expect(changed.formats.every(({ status }) => status === 'written')).toBe(true)
  })

  it('does not touch an earlier export when aborted', async () => {
    const { run, out } = makeRun(exampleSequences())
    await exportRun(config(out), { run })
    const before = contents(out)
    run.append('sequence', troubledSequences()[0]!)
    const signal = AbortSignal.abort(new Error('stop'))
    await expect(exportRun(config(out), { run, signal })).rejects.toThrow('stop')
    expect(contents(out)).toEqual(before)
  })

  it('counts without writing', async () => {
    const { run, out } = makeRun(exampleSequences())
    const { formats } = await exportRun({ ...config(out), dryRun: true }, { run })
    expect(formats.map(({ format, counts }) => [format, counts.rows])).toEqual(
      formatNames.map((name) => [name, name === 'verl-rl' ? 4 : grammars.length]),
    )
    expect(existsSync(out)).toBe(false)
  })

  it('writes a card with the origin and the differences', async () => {
    const [example, ...others] = exampleSequences()
    const meta = { team: 'manager', licence: 'CC BY 4.0', verdicts: 1 }
    const sawGold = { origin: 'distill', sawGold: true }
    const { run, out } = makeRun([{ ...example!, meta, taskId: 't2', provenance: sawGold }, ...others])
    await exportRun({ ...config(out), tokenizer: realPath('qwen2_5') }, { run })
    const card = readFileSync(join(out, 'llama-factory-alpaca', 'README.md'), 'utf8')
    for (const words of [
      'Observations are trained on',
      '| Team | manager | 1 |',
      'CC BY 4.0',
      '| Suite | own | 1 |',
      'sha256',
      '| Saw the gold answer | yes | 1 |',
      '| Its team was told that an answer is wrong | yes | 1 |',
    ])
      expect(card).toContain(words)
    expect(readFileSync(join(out, 'verl-rl', 'README.md'), 'utf8')).toContain('generated by coa')
  })

  it('reports what the tokenizer’s template does to turns, and counts straddling tokens', async () => {
    const { run, out } = makeRun([...exampleSequences(), ...troubledSequences()])
    await exportRun({ ...config(out, ['axolotl', 'trl-tokens']), tokenizer: realPath('qwen2_5') }, { run })
    expect(readFileSync(join(out, 'axolotl', 'README.md'), 'utf8')).toContain(
      'In 1 of these sequences a control token',
    )
    const [parts, tokens] = await checkExport(out)
    expect(parts).toMatchObject({ verdict: 'differs as stated', problemCount: 0 })
    expect(parts!.figures['tokens that straddle parts, masked by the trainer']).toBeGreaterThan(5)
    // Qwen's normalizer composes e + U+0301, so those rows match by ids but not by text.
    expect(tokens).toMatchObject({
      verdict: 'same',
      rows: grammars.length + 4,
      same: grammars.length + 4,
      figures: { 'rows that decode to the same text': grammars.length },
    })
  })

  it('rejects an unknown format, and a run without records', async () => {
    const { run, out } = makeRun([], [])
    await expect(exportRun(config(out, ['trl-token']), { run })).rejects.toMatchObject({
      fix: 'Did you mean "trl-tokens"?',
    })
    await expect(exportRun(config(out, ['openai']), { run })).rejects.toThrow('no sequences')
    await expect(exportRun(config(out, ['verl-rl']), { run })).rejects.toThrow('no tasks')
  })
})

describe('the files', () => {
  it('for LLaMA-Factory include their entries for dataset_info.json', async () => {
    const { run, out } = makeRun(exampleSequences())
    await exportRun(config(out), { run })
    const info = (name: string) =>
      JSON.parse(readFileSync(join(out, name, 'dataset_info.json'), 'utf8')) as Record<string, object>
    const { coa_sharegpt } = info('llama-factory-sharegpt') as {
      coa_sharegpt: { file_name: string; columns: Record<string, string>; tags: Record<string, string> }
    }
    const rows = readLines(join(out, 'llama-factory-sharegpt', coa_sharegpt.file_name))
    const { columns, tags } = coa_sharegpt
    for (const row of rows) {
      expect(row).toHaveProperty(columns['system']!)
      const turns = row[columns['messages']!] as Array<Record<string, string>>
      const roles = turns.map((turn) => turn[tags['role_tag']!]!)
      expect(turns.every((turn) => typeof turn[tags['content_tag']!] === 'string')).toBe(true)
      // LLaMA-Factory requires alternating roles and an even number of turns.
      roles.forEach((role, at) => {
        const allowed = at % 2 === 0 ? [tags['user_tag'], tags['observation_tag']] : [tags['assistant_tag']]
        expect(allowed).toContain(role)
      })
      expect(roles.length % 2).toBe(0)
    }
    const { coa_alpaca } = info('llama-factory-alpaca') as { coa_alpaca: { columns: Record<string, string> } }
    const [alpaca] = readLines(join(out, 'llama-factory-alpaca', 'data.jsonl'))
    for (const column of Object.values(coa_alpaca.columns)) expect(alpaca).toHaveProperty(column)
  })

  it('for verl are Parquet, one for each split, with checks of every kind', async () => {
    const { run, out } = makeRun(exampleSequences())
    await exportRun(config(out, ['verl-rl', 'verl-sft']), { run })
    const read = async (name: string) => {
      const rows: Array<Record<string, unknown>> = []
      for await (const { values } of readParquetRows(join(out, name))) rows.push(values)
      return rows
    }
    const train = await read('verl-rl/train.parquet')
    expect(train.map((row) => row['reward_model'])).toEqual([
      { style: 'rule', ground_truth: '2' },
      { style: 'rule', ground_truth: '{"setup":"","tests":[{"style":"stdio","stdin":"","stdout":"1\\n"}]}' },
      { style: 'model', ground_truth: 'so' },
    ])
    expect(train.map((row) => (row['extra_info'] as { index: number }).index)).toEqual([0, 1, 2])
    const [dev] = await read('verl-rl/dev.parquet')
    expect(dev).toMatchObject({
      data_source: 'own',
      ability: 'web',
      prompt: [{ role: 'system' }, { role: 'user', content: 'Wer? 👩‍👧' }],
      reward_model: { ground_truth: '["A","B"]' },
      extra_info: {
        split: 'dev',
        index: 0,
        id: 't2',
        question: 'Wer? 👩‍👧',
        gold: '{"checker":"exact","answers":["A","B"]}',
      },
    })
    expect(await read('verl-sft/train.parquet')).toHaveLength(grammars.length)
  })

  it('for Tinker are shifted by one, with the weight of the predicted token', async () => {
    const { run, out } = makeRun(exampleSequences().slice(0, 1))
    await exportRun(config(out, ['tinker', 'trl-tokens']), { run })
    const [datum] = readLines(join(out, 'tinker', 'datums.jsonl')) as [
      {
        model_input: { chunks: [{ tokens: number[] }] }
        loss_fn_inputs: Record<string, { data: number[]; shape: number[] }>
      },
    ]
    const [row] = readLines(join(out, 'trl-tokens', 'data.jsonl')) as [
      { input_ids: number[]; labels: number[] },
    ]
    const { target_tokens, weights } = datum.loss_fn_inputs as Record<
      'target_tokens' | 'weights',
      { data: number[]; shape: number[] }
    >
    expect(datum.model_input.chunks[0].tokens).toEqual(row.input_ids.slice(0, -1))
    expect(target_tokens.data).toEqual(row.input_ids.slice(1))
    expect(weights.data).toEqual(row.labels.slice(1).map((label) => (label === -100 ? 0 : 1)))
    expect(target_tokens.shape).toEqual([target_tokens.data.length])
  })
})
