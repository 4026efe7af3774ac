/** Define your own domain: its agents, their tags, and who may follow whom. */
import assert from 'node:assert/strict'
import { defineGrammar, isWellFormed, parseChain, systemPrompt } from 'chain-of-agents'

const grammar = defineGrammar({
  name: 'support',
  description: 'Customer questions.',
  start: ['think'],
  agents: [
    { name: 'think', kind: 'role', description: 'Say what to find out.', next: ['think', 'answer'] },
    { name: 'answer', kind: 'answer', description: 'Answer the customer.' },
  ],
})
console.log(systemPrompt(grammar))

const chain = parseChain(grammar, '<think>They ask for the price.</think><answer>It is 20 euros.</answer>')
assert.equal(isWellFormed(chain), true)
