import fc from 'fast-check'
import { expect, it } from 'vitest'
import { howMany } from '../../test/how-many.ts'
import { builtinGrammars, parseChain } from '../language/grammar/index.ts'
import { type ChainEvent, ChainEvents } from './chain-events.ts'

const math = builtinGrammars.get('math')!

/** Adjacent pieces of the same turn or answer, joined. */
function joined(events: readonly ChainEvent[]): ChainEvent[] {
  const all: ChainEvent[] = []
  for (const event of events) {
    const last = all.at(-1)
    if (last?.type === 'role' && event.type === 'role' && last.turn === event.turn)
      all[all.length - 1] = { ...last, text: last.text + event.text }
    else if (last?.type === 'answer' && event.type === 'answer')
      all[all.length - 1] = { ...last, text: last.text + event.text }
    else all.push(event)
  }
  return all
}

/** Escapes are left out: they stay as they were written. */
const parts = fc.constantFrom(
  ...['<think>', '</think>', '<plan>', '</plan>', '<Plan>', '<answer>', '</answer>', '<observation>'],
  ...['</observation>', '<b>', 'x', ' ', '\n', '<', '</', '</thi', '<code>', '</code>'],
)

it('are the same no matter how the text is split into chunks', () => {
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 20 }), fc.array(fc.nat(6)), (pieces, sizes) => {
      const text = pieces.join('')
      const [whole, split] = [new ChainEvents(math), new ChainEvents(math)]
      const expected = joined([...whole.push(text, 'model'), ...whole.end()])
      const found: ChainEvent[] = []
      let at = 0
      for (const size of sizes) {
        found.push(...split.push(text.slice(at, at + size), 'model'))
        at += size
      }
      found.push(...split.push(text.slice(at), 'model'), ...split.end())
      expect(joined(found)).toEqual(expected)
    }),
    { numRuns: howMany(10_000) },
  )
})

it('hold the text of every role, up to the first call', () => {
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 20 }), (pieces) => {
      // At the very end, what may become a tag is neither text nor a tag yet.
      const text = `${pieces.join('')} x`
      const reader = new ChainEvents(math)
      const events = joined([...reader.push(text, 'model'), ...reader.end()])
      const { blocks } = parseChain(math, text)
      const stop = blocks.findIndex(({ kind }) => kind === 'tool' || kind === 'answer')
      const roles = blocks.slice(0, stop === -1 ? undefined : stop)
      const raw = roles.map(({ text: body }) => body.trim())
      const heard = events.flatMap((event) =>
        event.type === 'role' && event.agent !== 'stray' ? [event.text] : [],
      )
      expect(heard).toEqual(raw.filter((body) => body !== ''))
    }),
    { numRuns: howMany(10_000) },
  )
})

it('a call that cannot be read is a call without a payload, and what is sampled past it is not part of the chain', () => {
  const reader = new ChainEvents(math)
  expect(reader.push('<code></code>\nand so', 'model')).toEqual([
    { type: 'call', agent: 'code', call: 0, payload: undefined, text: '' },
  ])
  expect(reader.push('on', 'model')).toEqual([])
  const made = { agent: 'code', outcome: 'malformed', ms: 0, cached: false } as const
  reader.called(made)
  expect(reader.push('\n<observation>It is <b>empty.</observation>\n', 'tool')).toEqual([
    { type: 'result', agent: 'code', call: 0, text: 'It is <b>empty.', outcome: 'malformed', ms: 0 },
  ])
  expect(reader.push('<think>Oh.', 'model')).toEqual([{ type: 'role', agent: 'think', turn: 2, text: 'Oh.' }])
})
