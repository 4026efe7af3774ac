/** Define your own tool: a function with a Zod schema. The grammar gets its tag, and the system prompt says how to call it. */
import assert from 'node:assert/strict'
import { callTool, defineTool, extendGrammar, loadGrammar, parseChain, systemPrompt } from 'chain-of-agents'
import { z } from 'zod'

const orders = new Map([[4711, 'two lamps, shipped on Monday']])
const findOrder = defineTool({
  name: 'find_order',
  description: 'Look up an order by its number.',
  input: z.object({ number: z.number().int() }),
  execute: ({ number }) => orders.get(number) ?? 'There is no such order.',
})

const grammar = extendGrammar(await loadGrammar('web'), [findOrder])
const chain = parseChain(grammar, '<think>Look it up.</think><find_order>{"number": 4711}</find_order>')
const result = await callTool(findOrder, chain.calls[0]!.payload)
console.log(result.text)

assert.match(systemPrompt(grammar), /find_order/)
assert.equal(result.text, 'two lamps, shipped on Monday')
