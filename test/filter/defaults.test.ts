import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { importRuns } from '../../src/stages/capture/index.ts'
import { run as distill } from '../../src/stages/distill/index.ts'
import { run as runFilter } from '../../src/stages/filter/index.ts'
import { createRun, type Run } from '../../src/store/index.ts'
import { makeSequence } from './make-sequence.ts'

let folder: string
let run: Run
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-filter-'))
  run = createRun(folder, { id: 'r', command: 'test', coa: '0.0.0' })
})
afterEach(() => {
  run.close()
  rmSync(folder, { recursive: true })
})

const quiet = { signal: new AbortController().signal, observe: () => {} }
let words = 0
/** Words that no other run has, so that none is a near-duplicate. */
const unlike = (): string => Array.from({ length: 40 }, () => `w${words++}`).join(' ')

/** A run of an agent as an app would log it. */
function logged({
  calls = 1,
  reward,
  agent = 'assistant',
}: {
  calls?: number
  reward?: number
  agent?: string
}) {
  const steps = Array.from({ length: calls }, (_, index) => [
    {
      role: 'assistant',
      name: agent,
      content: unlike(),
      tool_calls: [
        {
          id: `c${index}`,
          type: 'function',
          function: { name: 'lookup', arguments: JSON.stringify({ key: unlike() }) },
        },
      ],
    },
    { role: 'tool', tool_call_id: `c${index}`, content: unlike() },
  ])
  const messages = [
    { role: 'user', content: unlike() },
    ...steps.flat(),
    { role: 'assistant', name: agent, content: unlike() },
  ]
  return { messages, ...(reward === undefined ? {} : { reward }) }
}

/** How many are kept, and why the others are not. */
async function outcome(logs: object[], filter: Record<string, unknown> = {}) {
  const file = join(folder, 'logs.jsonl')
  writeFileSync(file, logs.map((log) => JSON.stringify(log)).join('\n'))
  const config = ProjectConfig.parse({ filter })
  await importRuns.run({ run, config, ...quiet }, { files: [file] })
  await distill(config, { run, ...quiet })
  const { funnel } = await runFilter(config, { run, ...quiet })
  const { kept, notes = [] } = funnel
  return { kept, notes, reasons: funnel.reasons.map(({ reason, count }) => `${count} ${reason}`) }
}

describe('logs of teams that nobody asked to reflect, check or search at length', () => {
  it('are kept where nothing says that they are poor, and the funnel says so', async () => {
    const { kept, reasons, notes } = await outcome(Array.from({ length: 30 }, () => logged({})))
    expect([kept, reasons]).toEqual([30, []])
    expect(notes).toEqual([
      expect.stringMatching(/^grammar open: one tool call is enough; filter\.min_interactions/),
      expect.stringMatching(/nothing has checked any answer.*coa check RUN.*filter\.unchecked = "drop"/),
      expect.stringMatching(/no sequence reflects.*filter\.min_reflecting = 0/),
    ])
  })

  it('with verdicts are judged by them', async () => {
    const logs = [...Array.from({ length: 10 }, (_, index) => logged({ reward: index % 2 })), logged({})]
    const { kept, reasons, notes } = await outcome(logs)
    expect([kept, reasons]).toEqual([5, ['5 wrong answer', '1 unchecked']])
    expect(notes.join()).not.toContain('checked')
  })

  it('need a tool call where others have one', async () => {
    const { kept, reasons } = await outcome([logged({}), logged({}), logged({ calls: 0 })])
    expect([kept, reasons]).toEqual([2, ['1 no tool call']])
  })

  it('need none where no run has one', async () => {
    const { kept, notes } = await outcome([logged({ calls: 0 }), logged({ calls: 0 })])
    expect(kept).toBe(2)
    expect(notes[0]).toMatch(/no sequence calls a tool/)
  })

  it('follow settings where they are given, and then nothing is decided for the user', async () => {
    const given = { min_interactions: 2, unchecked: 'keep', min_reflecting: 0, keep_unreflected: 0 }
    const logs = [logged({}), logged({ calls: 2 })]
    const { kept, reasons, notes } = await outcome(logs, given)
    expect(kept).toBe(0)
    expect(reasons).toEqual(['1 fewer than 2 tool calls', '1 no reflection, not sampled'])
    expect(notes).toEqual([])
    expect((await outcome(logs, { unchecked: 'drop', min_interactions: 0 })).reasons).toEqual(['2 unchecked'])
  })
})

describe('reflection', () => {
  const add = (reflecting: number, of: number): void => {
    for (let index = 0; index < of; index++) {
      const reflection = index < reflecting ? { reflection: unlike() } : {}
      run.append('sequence', makeSequence({ id: `s${index}`, thought: unlike(), ...reflection }))
    }
  }
  const kept = async (filter: Record<string, unknown> = {}) => {
    const { funnel } = await runFilter(ProjectConfig.parse({ filter: { keep_unreflected: 0, ...filter } }), {
      run,
      ...quiet,
    })
    return [funnel.kept, funnel.notes]
  }

  it('is sampled where enough sequences reflect', async () => {
    add(5, 100)
    expect(await kept()).toEqual([5, []])
  })

  it('is not sampled where hardly any does', async () => {
    add(4, 100)
    expect(await kept()).toEqual([100, [expect.stringContaining('only 4 of 100 sequences reflect')]])
    expect(await kept({ min_reflecting: 0.04 })).toEqual([4, []])
    expect(await kept({ min_reflecting: 0 })).toEqual([4, []])
  })

  it("leaves the paper's other numbers to its grammars", async () => {
    run.append('sequence', makeSequence({ id: 'short', calls: ['a'] }))
    run.append('sequence', makeSequence({ id: 'unchecked', outcome: 'unchecked', thought: unlike() }))
    const { funnel } = await runFilter(ProjectConfig.parse({}), { run, ...quiet }).catch((error) => error)
    expect(funnel.reasons.map(({ reason }: { reason: string }) => reason)).toEqual([
      'fewer than 5 tool calls',
      'unchecked',
    ])
  })
})
