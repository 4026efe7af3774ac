/** Parse a chain of agents: turns, tool calls, the answer, and any problems in the text. */
import assert from 'node:assert/strict'
import { builtinGrammars, isWellFormed, parseChain } from 'chain-of-agents'

const grammar = builtinGrammars.get('math')!
const text = `<plan>Multiply, then subtract.</plan>
<think>Let Python do it.</think>
<code>
\`\`\`py
print(17 * 144 - 389)
\`\`\`
</code>
<observation>2059</observation>
<reflection>17 × 144 is 2448, minus 389 is 2059.</reflection>
<answer>\\boxed{2059}</answer>`

const chain = parseChain(grammar, text)
console.log(chain.blocks.map(({ agent }) => agent).join(' → '))
for (const { message } of chain.diagnostics) console.log(message)

assert.deepEqual(chain.answer?.payload, { syntax: 'text', text: '\\boxed{2059}' })
assert.equal(isWellFormed(parseChain(grammar, text.replace('</plan>', ''))), false)
