import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { Trajectory } from '../../src/schema/index.ts'
import { run as distill } from '../../src/stages/distill/index.ts'
import { run as filter } from '../../src/stages/filter/index.ts'
import { recordAiSdk, recordRun } from '../../src/stages/teach/index.ts'
import { createRun } from '../../src/store/index.ts'
import { startOpenAiServer } from '../../src/testing/openai-server.ts'
import { agents } from './ai-sdk-versions.ts'

const script = [
  { text: 'Let me look.', toolCalls: [{ name: 'lookup', arguments: { word: 'Teglen' } }] },
  { toolCalls: [{ name: 'lookup', arguments: { word: 'nowhere' } }] },
  'Teglen lies on the Osk.',
]

const head = { id: 'r', taskId: 't', team: 'mine', question: 'Where does Teglen lie?' }

const cases = Object.entries(agents).flatMap(([version, ways]) =>
  Object.entries(ways).map(([way, ask]) => [version, way, ask] as const),
)

it.each(cases)('records an unchanged %s agent that uses %s', async (_version, _way, ask) => {
  const server = await startOpenAiServer(script)
  try {
    const trajectory = await recordRun(head, async (recorder) => {
      const recorded = recordAiSdk(recorder, 'assistant')
      const text = await ask(recorded, server.baseUrl, head.question)
      recorded.answered(text)
      return text
    })
    Trajectory.parse(trajectory)
    expect(trajectory.answer).toBe('Teglen lies on the Osk.')
    expect(trajectory.events.map(({ type }) => type)).toEqual([
      'activated',
      'wrote',
      'tool-called',
      'tool-answered',
      'activated',
      'wrote',
      'tool-called',
      'tool-answered',
      'activated',
      'wrote',
      'answered',
    ])
    // What the run has to know about the tool is in the trajectory.
    expect(trajectory.meta).toEqual({
      domain: 'open',
      tools: [{ v: 1, id: 'lookup', description: expect.any(String), payload: { syntax: 'json' } }],
    })
    const [, wrote, called, answered, , , , failed] = trajectory.events
    expect(wrote).toMatchObject({ text: 'Let me look.', usage: { promptTokens: 10, completionTokens: 5 } })
    expect(called).toMatchObject({ tool: 'lookup', input: { word: 'Teglen' }, parent: wrote!.id })
    expect(answered).toMatchObject({
      output: '{"found":"Teglen: a town on the Osk"}',
      ok: true,
      parent: called!.id,
    })
    expect(failed).toMatchObject({ output: 'no such word', ok: false })
  } finally {
    await server.close()
  }
})

it('says which tools there were, and distillation declares them', async () => {
  const trajectory = await recordRun(head, async (recorder) => {
    const asked = recorder.add({ type: 'activated', agent: 'scout', parent: null, messages: [] })
    recorder.add({ type: 'wrote', agent: 'scout', parent: asked, text: 'Let me look.' })
    const { tools, answered } = recordAiSdk(recorder, 'scout')
    const { lookUp } = tools({ lookUp: { description: 'Looks it up.', execute: () => 'on the Osk' } })
    await (lookUp.execute as (input: unknown, options: unknown) => unknown)({ word: 'Teglen' }, {})
    answered('On the Osk.')
    return 'On the Osk.'
  })
  const folder = mkdtempSync(join(tmpdir(), 'coa-recorded-'))
  const config = ProjectConfig.parse({})
  try {
    using run = createRun(folder, { id: 'r', command: 'test', coa: '0.0.0' })
    run.append('trajectory', trajectory)
    const context = { run, signal: new AbortController().signal, observe: () => {} }
    await distill(config, { ...context, dryRun: true })
    expect(run.count('tool')).toBe(0)
    await distill(config, context)
    expect([...run.scan('tool')]).toMatchObject([{ id: 'look_up', description: 'Looks it up.' }])
    const [sequence] = run.scan('sequence')
    expect(sequence!.grammar).toBe('open')
    expect(sequence!.spans.map(({ agent, kind }) => `${agent} ${kind}`)).toEqual([
      'think role',
      'look_up call',
      'observation observation',
      'answer answer',
    ])
    expect((await filter(config, context)).funnel.reasons).toEqual([])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('records the failure of a run that throws', async () => {
  const trajectory = await recordRun(head, async (recorder) => {
    recorder.add({ type: 'activated', agent: 'a', parent: null, messages: [] })
    throw new Error('the line is dead')
  })
  expect(trajectory.events.at(-1)).toMatchObject({
    type: 'failed',
    parent: 'e1',
    message: 'the line is dead',
  })
})

it.each([
  [
    'a model of AI SDK 4',
    { specificationVersion: 'v1', modelId: 'old', doGenerate() {}, doStream() {} },
    'v1',
  ],
  [
    'a model of a future version',
    { specificationVersion: 'v9', modelId: 'new', doGenerate() {}, doStream() {} },
    'v9',
  ],
  ['the name of a model', 'openai/gpt-5', 'is not a model'],
])('rejects %s at once, and says what is needed', async (_, model, reason) => {
  const run = recordRun(head, async (recorder) => {
    recordAiSdk(recorder, 'a').model(model as never)
    return 'never'
  })
  await expect(run).rejects.toThrow(reason)
  await expect(run).rejects.toMatchObject({
    boundary: 'usage',
    fix: expect.stringMatching(/AI SDK 5, 6 and 7|model object/),
  })
})
