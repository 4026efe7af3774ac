/** Two agents of the AI SDK work on questions; their runs are recorded, checked, distilled and stored, ready for `coa filter` and `coa sft`. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, stepCountIs, tool } from 'ai'
import {
  checkAnswer,
  createRun,
  distill,
  filter,
  ProjectConfig,
  type Recorder,
  recordAiSdk,
  recordRun,
  runStages,
} from 'chain-of-agents'
import { streamText, Task } from 'chain-of-agents/schema'
import { startOpenAiServer } from 'chain-of-agents/testing'
import { z } from 'zod'

// A scripted model, so that this runs without a key. With a real one: `const model = openai('gpt-5')`, of the package @ai-sdk/openai.
const server = await startOpenAiServer(({ body }) => {
  const messages = body['messages'] as { role: string; content: string }[]
  const last = messages.at(-1)!.content
  if (/Research:/.test(last))
    return { text: 'I look it up.', toolCalls: [{ name: 'population', arguments: { city: 'Lima' } }] }
  return /10092000/.test(last) ? 'Lima has 10092000 inhabitants.' : 'I do not know.'
})
const provider = createOpenAICompatible({ name: 'scripted', baseURL: server.baseUrl })
const model = provider('scripted')

const city = z.object({ city: z.string() })
const population = tool({
  description: 'The population of a city.',
  inputSchema: city,
  execute: async ({ city }) => (city === 'Lima' ? '10092000' : 'unknown'),
})

/** The team as it was, except for the wrappers `.model` and `.tools`. */
async function answer(question: string, recorder: Recorder): Promise<string> {
  const researcher = recordAiSdk(recorder, 'researcher')
  const found = await generateText({
    model: researcher.model(model),
    tools: researcher.tools({ population }),
    stopWhen: stepCountIs(5),
    prompt: `Research: ${question}`,
  })
  const writer = recordAiSdk(recorder, 'writer')
  const { text } = await generateText({
    model: writer.model(model),
    prompt: `Question: ${question}\nNotes: ${found.text}\nWrite the answer.`,
  })
  writer.answered(text)
  return text
}

const folder = mkdtempSync(join(tmpdir(), 'coa-ai-sdk-'))
try {
  using run = createRun(join(folder, 'runs'), { command: 'my app', coa: '0.1.0' })
  const task = Task.parse({
    v: 1,
    id: 'lima',
    suite: 'mine',
    domain: 'mine',
    question: 'How many people live in Lima?',
    gold: { checker: 'exact', answers: ['Lima has 10092000 inhabitants.'] },
  })
  run.append('task', task)
  const head = { id: 'run-1', taskId: task.id, team: 'researcher and writer', question: task.question }
  const trajectory = await recordRun(head, (recorder) => answer(task.question, recorder))
  const verdict = await checkAnswer(task.gold, trajectory.answer)
  run.append('trajectory', { ...trajectory, verdict })

  const config = ProjectConfig.parse({})
  await runStages([distill, filter], { run, config, signal: AbortSignal.timeout(600_000), observe: () => {} })
  const [sequence] = run.scan('sequence')
  console.log(streamText(sequence!))

  assert.equal(verdict.outcome, 'correct')
  assert.match(
    streamText(sequence!),
    /<population>.*Lima.*<\/population>.*<observation>10092000<\/observation>.*<answer>/s,
  )
  // Tool output is masked: never trained on.
  assert.deepEqual(
    sequence!.spans.filter(({ text }) => text.includes('<observation>')).map(({ kind }) => kind),
    ['observation'],
  )
} finally {
  await server.close()
  rmSync(folder, { recursive: true })
}
