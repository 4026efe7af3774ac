/** Ask a model a question in code, with a tool of your own, and show its chain while it is written. */
import assert from 'node:assert/strict'
import { defineTool, solve } from 'chain-of-agents'
import { byteTokenizer, scriptedEngine } from 'chain-of-agents/testing'
import { z } from 'zod'

const findOrder = defineTool({
  name: 'find_order',
  description: 'Look up an order by its number.',
  input: z.object({ number: z.number().int() }),
  execute: ({ number }) => `order ${number}: shipped on Monday`,
})

// A scripted model, so that this runs without weights. Name a folder instead: solve('runs/ID/checkpoints/rl', …).
const tokenizer = byteTokenizer()
const engine = scriptedEngine(tokenizer, (soFar) =>
  soFar.includes('shipped on Monday')
    ? '<think>It says when.</think><answer>On Monday.</answer>'
    : '<think>Look it up.</think><find_order>{"number": 4711}</find_order>',
)
const model = { engine, tokenizer, endTokens: [] }

const solving = solve(model, 'When was order 4711 shipped?', { grammar: 'math', tools: [findOrder] })
for await (const event of solving) {
  if (event.type === 'role') console.log(`${event.agent}: ${event.text}`)
  if (event.type === 'result') console.log(`${event.agent} returned: ${event.text}`)
}
const { answer, calls, tokens } = await solving
console.log(answer, `${tokens.once} tokens, billed as ${tokens.billed}`)

assert.equal(answer, 'On Monday.')
assert.deepEqual(
  calls.map(({ agent, outcome }) => [agent, outcome]),
  [['find_order', 'ok']],
)

// Several answers, and your own way to pick one.
const most = await solve(model, 'When?', {
  grammar: 'math',
  tools: [findOrder],
  bestOf: 3,
  pick: (rollouts) => rollouts.findIndex((rollout) => rollout.answer !== undefined),
})
assert.equal(most.rollouts.length, 3)
