import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { normalizeText } from '../../src/reward/index.ts'
import type { Verdict } from '../../src/schema/index.ts'
import { type ChatMessage, run as distill, trajectoryFromChat } from '../../src/stages/distill/index.ts'
import { checkExport, exportRun } from '../../src/stages/export/index.ts'
import { run as filter } from '../../src/stages/filter/index.ts'
import { createRun, readSelection } from '../../src/store/index.ts'
import { dataFile, readJsonLines } from '../data/shared-data.ts'
import { searchAndRead } from '../distill/search-and-read.ts'

const file = dataFile('traces/webdancer-chatml.jsonl.gz')
const formats = ['llama-factory-sharegpt', 'trl-messages', 'trl-tokens', 'axolotl', 'openai', 'tinker']

describe.skipIf(file === null)('published trajectories', () => {
  it('are distilled, filtered with reasons, exported, and checked', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coa-webdancer-'))
    const grammar = join(folder, 'grammar.mjs')
    writeFileSync(grammar, `export default ${JSON.stringify(searchAndRead)}`)
    const config = ProjectConfig.parse({
      language: { grammar },
      distill: { map: { search: 'web_search', visit: 'crawl_page' } },
      filter: { min_interactions: 1, keep_unreflected: 1, max_tokens: 0 },
    })
    const context = {
      run: createRun(folder, { id: 'r', command: 'test', coa: '0.0.0' }),
      signal: new AbortController().signal,
      observe: () => {},
    }
    const { run } = context
    try {
      const rows = readJsonLines<{ messages: ChatMessage[]; answer: string[][] }>(file!)
      for (const [index, { messages, answer }] of rows.entries()) {
        const asked = messages[1]!.content
        const question = asked.slice(asked.lastIndexOf('\nUser: ') + '\nUser: '.length)
        const head = {
          id: `webdancer-${index}`,
          taskId: `webdancer-${index}`,
          team: 'webdancer',
          question,
          meta: { suite: 'webdancer' },
        }
        const trajectory = trajectoryFromChat(messages.slice(2), head)
        // Their answers are sentences, meant for a judge; those that contain the gold answer verbatim are certainly
        // correct.
        const told = normalizeText(trajectory.answer ?? '')
        const isRight = answer.flat().some((gold) => told.includes(normalizeText(gold)))
        const verdict: Verdict = {
          outcome: isRight ? 'correct' : 'undecided',
          checker: 'contains',
          evidence: answer.flat().join(' | '),
        }
        run.append('trajectory', { ...trajectory, verdict })
      }
      const { figures } = await distill(config, context)
      expect(figures['sequences']).toBe(200)
      const { funnel } = await filter(config, context)
      console.log(
        `webdancer: ${funnel.kept} of ${funnel.sequences} kept; ${JSON.stringify(funnel.reasons)}`.slice(
          0,
          600,
        ),
      )
      expect(funnel.sequences).toBe(200)
      expect(funnel.kept).toBeGreaterThan(10)
      const out = join(folder, 'out')
      const exported = await exportRun({ formats, out, tokenizer: 'bytes' }, context)
      expect(exported.formats.map(({ status }) => status)).toEqual(formats.map(() => 'written'))
      const kept = [...readSelection(run)].length
      for (const { format, folder: where, counts } of exported.formats) {
        expect(counts.sequences, format).toBe(kept)
        const [checked] = await checkExport(where, { run })
        expect(checked, format).toMatchObject({ rows: kept, problemCount: 0 })
        expect(checked!.verdict, format).not.toBe('broken')
      }
    } finally {
      run.close()
      rmSync(folder, { recursive: true })
    }
  })
})
