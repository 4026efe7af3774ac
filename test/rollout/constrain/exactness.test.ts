import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Constraint, createConstraint } from '../../../src/agent/constrain/index.ts'
import {
  defineGrammar,
  type Grammar,
  type GrammarInput,
  isWellFormed,
  parseChain,
} from '../../../src/language/grammar/index.ts'
import { byteTokenizer } from '../../../src/language/tokens/index.ts'
import { nastyText } from '../../grammar/arbitraries.ts'
import { howMany } from '../../how-many.ts'
import { randomSchema } from './random-grammar.ts'

const RUNS = howMany(10_000)
type Payload = NonNullable<GrammarInput['agents'][number]['payload']>

function answering(payload: Payload): { grammar: Grammar; constraint: Constraint } {
  const grammar = defineGrammar({
    name: 'one',
    description: 'd',
    start: ['code', 'think'],
    agents: [
      { name: 'think', kind: 'role', description: 'd', next: ['code'] },
      { name: 'code', kind: 'answer', description: 'd', payload },
    ],
  })
  const tokenizer = byteTokenizer()
  return { grammar, constraint: createConstraint(grammar, tokenizer, { endTokens: [tokenizer.eosId!] }) }
}

function isReachable(constraint: Constraint, text: string): boolean {
  try {
    return constraint.start().inserted(text).ended
  } catch {
    return false
  }
}

const pieces = (...texts: string[]): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof(fc.constantFrom(...texts), fc.constantFrom(...texts), nastyText), { maxLength: 9 })
    .map((parts) => parts.join(''))

const nearCode = fc
  .tuple(
    fc.constantFrom('', '\n', ' \n\t', '\f', '\f\n', 'x'),
    fc.constantFrom(
      '```py\n',
      '```\n',
      '``` PYTHON \n',
      '````py\n',
      ' ```py\r\n',
      '```js\n',
      '``py\n',
      '```py x\n',
      '```py',
    ),
    pieces(
      'x',
      '\n',
      '```',
      '\n```\n',
      '\n````',
      '\n ```',
      '``` ',
      '\u00a0',
      ' ',
      '`',
      '</think>',
      '<\\/code>',
      '</code',
    ),
    fc.constantFrom(
      '\n```',
      '\n```\n',
      '\n````\n',
      '\n``` \n\n',
      '```',
      '\n```x',
      '\n```\u00a0',
      '\n```\f\n',
    ),
    fc.constantFrom(
      '',
      '',
      '```sh\n1\n```',
      '```\n```\n',
      '```sh x\n1\n```',
      '```sh\n1',
      '\t```+#\n\n```\n \n',
      ' x',
    ),
  )
  .map((parts) => parts.join(''))

const json = fc.oneof(
  fc
    .dictionary(fc.string({ unit: 'grapheme', maxLength: 4 }), fc.jsonValue(), { maxKeys: 3 })
    .map((value) => JSON.stringify(value, null, 1)),
  pieces(
    '{',
    '}',
    '"',
    ':',
    ',',
    '[',
    ']',
    '"a"',
    '"a":',
    '1',
    '-',
    '0',
    '.5',
    'e+1',
    'true',
    'null',
    ' ',
    '\n',
    '\\',
    '\\u00e9',
    '\t',
    '{}',
  ),
)
/** One character removed or inserted. */
const nearJson = fc
  .tuple(json, fc.nat(), fc.constantFrom('', '', '"', ',', '}', '\\', '0', ' ', '\n', 'é'))
  .map(
    ([text, at, put]) =>
      text.slice(0, at % (text.length + 1)) +
      put +
      text.slice((at % (text.length + 1)) + (put === '' ? 0 : 1)),
  )

interface Case {
  payload: Payload
  bodies: fc.Arbitrary<string>
  /** Texts that strict parsing accepts and constraints exclude on purpose. */
  leftOut: RegExp
}

/** Non-ASCII white space around fences and JSON; JSON in a fence. */
const cases: Record<string, Case> = {
  text: { payload: { syntax: 'text' }, bodies: nastyText, leftOut: /(?!)/ },
  list: {
    payload: { syntax: 'list' },
    bodies: pieces('|', ' ', '\\', '\n', '\u00a0', '<\\/code>'),
    leftOut: /(?!)/,
  },
  code: {
    payload: { syntax: 'code', languages: ['py', 'Python'] },
    bodies: nearCode,
    leftOut: /^\s*[^\S\0-\x7f]|^\s*`+[^\n]*[^\S\0-\x7f]|[^\S\0-\x7f]\s*$/,
  },
  stdin: {
    payload: { syntax: 'code', languages: ['py'], stdin: true },
    bodies: nearCode,
    leftOut: /[^\S\0-\x7f]/,
  },
  json: { payload: { syntax: 'json' }, bodies: nearJson, leftOut: /^\s*```|^[^\S\n\r\t ]|[^\S\n\r\t ]$/ },
}

describe('a block can be written exactly if strict parsing accepts it', () => {
  it.each(Object.entries(cases))('%s', (_, { payload, bodies, leftOut }) => {
    const { grammar, constraint } = answering(payload)
    const tally = { taken: 0, refused: 0 }
    fc.assert(
      fc.property(bodies, (body) => {
        const text = `<code>${body}</code>`
        const taken = isWellFormed(parseChain(grammar, text, { strict: true }))
        tally[taken ? 'taken' : 'refused']++
        const reachable = isReachable(constraint, text)
        if (taken && !reachable && leftOut.test(body)) return
        expect(reachable, JSON.stringify(body)).toBe(taken)
      }),
      { numRuns: RUNS },
    )
    // The comparison is meaningful only if both outcomes occur.
    expect(Math.min(tally.taken, tally.refused)).toBeGreaterThan(RUNS / 100)
  })

  it('a role, whatever it says', () => {
    const { grammar, constraint } = answering({ syntax: 'text' })
    const tally = { taken: 0, refused: 0 }
    fc.assert(
      fc.property(nastyText, (body) => {
        const text = `<think>${body}</think>\n<code>x</code>`
        const taken = isWellFormed(parseChain(grammar, text, { strict: true }))
        tally[taken ? 'taken' : 'refused']++
        // A text that closes its own block is a different chain, whose white space may not be the renderer's.
        if (taken && body.includes('</think>')) return
        expect(isReachable(constraint, text), JSON.stringify(body)).toBe(taken)
      }),
      { numRuns: RUNS },
    )
    expect(Math.min(tally.taken, tally.refused)).toBeGreaterThan(RUNS / 100)
  })
})

describe('schemas', () => {
  const anyValue = fc.dictionary(fc.constantFrom('a', 'b', 'only'), fc.jsonValue({ maxDepth: 1 }), {
    maxKeys: 3,
  })

  it('values that a schema refuses cannot be written', () => {
    const tally = { taken: 0, refused: 0 }
    fc.assert(
      fc.property(randomSchema, anyValue, (schema, value) => {
        const { grammar, constraint } = answering({ syntax: 'json', schema: schema as never })
        const text = `<code>${JSON.stringify(value)}</code>`
        const taken = isWellFormed(parseChain(grammar, text, { strict: true }))
        tally[taken ? 'taken' : 'refused']++
        if (!taken) expect(isReachable(constraint, text), text).toBe(false)
      }),
      { numRuns: howMany(2_000) },
    )
    expect(Math.min(tally.taken, tally.refused)).toBeGreaterThan(20)
  })

  it.each(['<\\/code>', '</code>', '<think>'])('the value %j is escaped so that it is not a tag', (value) => {
    const schema = { type: 'object', properties: { only: { const: value } }, required: ['only'] }
    const { grammar, constraint } = answering({ syntax: 'json', schema })
    const written = JSON.stringify({ only: value })
    const escaped = `<code>${written.replaceAll('<', '\\u003c')}</code>`
    expect(isReachable(constraint, `<code>${written}</code>`)).toBe(false)
    expect(isReachable(constraint, escaped)).toBe(true)
    expect(parseChain(grammar, escaped, { strict: true }).answer?.payload).toEqual({
      syntax: 'json',
      value: { only: value },
    })
  })

  it('values that a schema accepts can be written', () => {
    const cases = randomSchema.chain((schema) => valueFor(schema).map((value) => ({ schema, value })))
    fc.assert(
      fc.property(cases, fc.constantFrom(0, 2), ({ schema, value }, indent) => {
        // Literals with tags or non-ASCII characters are written with escapes only.
        const body = JSON.stringify(value, null, indent)
        fc.pre(!/<[\\/\w]|[^\0-\x7f]/.test(body))
        const { grammar, constraint } = answering({ syntax: 'json', schema: schema as never })
        const text = `<code>${body}</code>`
        expect(isWellFormed(parseChain(grammar, text, { strict: true })), text).toBe(true)
        expect(isReachable(constraint, text), text).toBe(true)
      }),
      { numRuns: howMany(2_000) },
    )
  })
})

interface Part {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Part[]
  items?: Part
  properties?: Record<string, Part>
  required?: string[]
  additionalProperties?: boolean | Part
}

function valueFor(schema: Part): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valueFor))
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'string':
      return fc.string()
    case 'number':
      return fc.oneof(
        fc
          .double({ min: -1e99, max: 1e99, noNaN: true, noDefaultInfinity: true })
          .filter((x) => x === 0 || Math.abs(x) > 1e-99),
        fc.nat(),
      )
    case 'integer':
      return fc.integer()
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(valueFor(schema.items!), { maxLength: 3 })
    case 'object': {
      const { properties = {}, required = [], additionalProperties: others } = schema
      if (Object.keys(properties).length > 0) {
        const parts = Object.fromEntries(
          Object.entries(properties).map(([name, part]) => [name, valueFor(part)]),
        )
        return fc.record(parts, { requiredKeys: required })
      }
      if (others === false) return fc.constant({})
      return fc.dictionary(fc.string(), typeof others === 'object' ? valueFor(others) : fc.jsonValue(), {
        maxKeys: 3,
      })
    }
    default:
      return fc.jsonValue()
  }
}
