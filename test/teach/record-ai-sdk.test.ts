import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount, streamText, tool } from 'ai'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { Trajectory } from '../../src/schema/index.ts'
import { recordAiSdk, recordRun } from '../../src/teach/index.ts'
import { startOpenAiServer } from '../../src/testing/openai-server.ts'

const script = [
  { text: 'Let me look.', toolCalls: [{ name: 'lookup', arguments: { word: 'Teglen' } }] },
  { toolCalls: [{ name: 'lookup', arguments: { word: 'nowhere' } }] },
  'Teglen lies on the Osk.',
]

const tools = {
  lookup: tool({
    description: 'Looks a word up.',
    inputSchema: z.object({ word: z.string() }),
    execute: async ({ word }) => {
      if (word === 'nowhere') throw new Error('no such word')
      return { found: `${word}: a town on the Osk` }
    },
  }),
}

it.each(['generateText', 'streamText'])(
  'an agent of the AI SDK is recorded with %s as it is',
  async (how) => {
    const server = await startOpenAiServer(script)
    try {
      const head = { id: 'r', taskId: 't', team: 'mine', question: 'Where does Teglen lie?' }
      const trajectory = await recordRun(head, async (recorder) => {
        const recorded = recordAiSdk(recorder, 'assistant')
        const model = createOpenAICompatible({ name: 'test', baseURL: server.baseUrl }).chatModel('m')
        const settings = {
          model: await recorded.model(model),
          tools: recorded.tools(tools),
          prompt: head.question,
          stopWhen: isStepCount(5),
        }
        const text =
          how === 'generateText' ? (await generateText(settings)).text : await streamText(settings).text
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
  },
)

it('a run that throws is a trajectory with its failure', async () => {
  const head = { id: 'r', taskId: 't', team: 'mine', question: 'q' }
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
