/** A chain-of-agents model behind the AI SDK: its roles are reasoning, its tools run here, and its answer is the text. */
import assert from 'node:assert/strict'
import { generateText, streamText } from 'ai'
import { chainOfAgents, defineTool } from 'chain-of-agents'
import { byteTokenizer, scriptedEngine } from 'chain-of-agents/testing'
import { z } from 'zod'

const findOrder = defineTool({
  name: 'find_order',
  description: 'Look up an order by its number.',
  input: z.object({ number: z.number().int() }),
  execute: ({ number }) => `order ${number}: shipped on Monday`,
})

// A scripted model, so that this runs without weights. Name a folder instead: chainOfAgents('runs/ID/checkpoints/rl', …).
const tokenizer = byteTokenizer()
const engine = scriptedEngine(tokenizer, (soFar) =>
  soFar.includes('shipped on Monday')
    ? '<think>It says when.</think><answer>On Monday.</answer>'
    : '<think>Look it up.</think><find_order>{"number": 4711}</find_order>',
)
const model = chainOfAgents(
  { engine, tokenizer, endTokens: [], checkpoint: 'scripted' },
  { grammar: 'math', tools: [findOrder] },
)

const prompt = 'When was order 4711 shipped?'
const { text, reasoningText, toolResults, usage } = await generateText({ model, prompt })
console.log(reasoningText, toolResults[0]?.output, text, usage.totalTokens)
assert.equal(text, 'On Monday.')
assert.equal(toolResults[0]?.output, 'order 4711: shipped on Monday')

// The same, shown while it is written.
let answer = ''
for await (const part of streamText({ model, prompt }).fullStream) {
  if (part.type === 'reasoning-delta') process.stdout.write(part.text)
  if (part.type === 'tool-result') console.log(`\n[${part.toolName}] ${part.output}`)
  if (part.type === 'text-delta') answer += part.text
}
assert.equal(answer, 'On Monday.')
await model.close()
