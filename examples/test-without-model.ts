/** A test of your own tool and grammar, without a model or a network: the model and the tool answer from a script. */
import assert from 'node:assert/strict'
import { extendGrammar, loadGrammar, ProjectConfig, rollOut, rolloutSettings } from 'chain-of-agents'
import { Task } from 'chain-of-agents/schema'
import { byteTokenizer, fakeTool, scriptedEngine } from 'chain-of-agents/testing'

const findOrder = fakeTool('find_order', ({ number }) => `order ${number}: shipped on Monday`)
const grammar = extendGrammar(await loadGrammar('web'), [findOrder])
const tokenizer = byteTokenizer()
const engine = scriptedEngine(tokenizer, (soFar) =>
  soFar.includes('shipped on Monday')
    ? '<think>It says when.</think><answer>Monday</answer>'
    : '<think>Look it up.</think><find_order>{"number": 4711}</find_order>',
)
const task = Task.parse({
  v: 1,
  id: 'order',
  suite: 'mine',
  domain: 'web',
  question: 'When was order 4711 shipped?',
  gold: { checker: 'exact', answers: ['Monday'] },
})

const { answer, verdict, calls } = await rollOut(
  { task, id: 'rollout-1', groupId: 'group-1', seed: 1 },
  { engine, tokenizer, endTokens: [], checkpoint: 'scripted' },
  {
    grammarOf: async () => grammar,
    toolsOf: async () => [findOrder],
    calling: {},
    check: {},
    close: async () => {},
  },
  rolloutSettings(ProjectConfig.parse({})),
)
console.log(answer, verdict?.outcome, calls)

assert.equal(verdict?.outcome, 'correct')
assert.deepEqual(findOrder.calls, [{ number: 4711 }])
