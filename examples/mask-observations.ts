/** Which tokens a model is trained on: everything it writes itself, and no tool output. */
import assert from 'node:assert/strict'
import { builtinGrammars, parseChain, spansOf } from 'chain-of-agents'
import { encodeSpans } from 'chain-of-agents/engine'
import { byteTokenizer } from 'chain-of-agents/testing'

const text = '<think>Look it up.</think><web_search>Gatun Lake</web_search><observation>425 km²</observation>'
const spans = spansOf(parseChain(builtinGrammars.get('web')!, text))
const tokenizer = byteTokenizer()
const { ids, mask } = encodeSpans(tokenizer, spans)

const trained = tokenizer.decode(ids.filter((_, at) => mask[at] === 1))
console.log(`${mask.reduce((sum, bit) => sum + bit, 0)} of ${ids.length} tokens are trained on: ${trained}`)

assert.equal(trained, '<think>Look it up.</think><web_search>Gatun Lake</web_search>')
