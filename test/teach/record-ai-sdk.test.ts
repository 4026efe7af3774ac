import { expect, it } from 'vitest'
import { Trajectory } from '../../src/schema/index.ts'
import { recordAiSdk, recordRun } from '../../src/stages/teach/index.ts'
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
