import fc from 'fast-check'
import {
  defineGrammar,
  findProblems,
  type Grammar,
  GrammarDefinition,
} from '../../../src/language/grammar/index.ts'

/** Tags that are prefixes of each other, differ late, or use every kind of character allowed in a tag. */
const tags = ['a', 'ab', 'abc', 'A_b', 'a.b', 'a-b', 'think', 'thinker', '_', 'code', 'codes', 'x9', 'Answer']

const leaf = fc.oneof(
  fc.constantFrom(
    ...['string', 'number', 'integer', 'boolean', 'null'].map((type) => ({ type })),
    { type: ['string', 'null'] },
    { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    { enum: ['<', '<=', 'a"b', '<think>', '</code>', 'é'] },
    { enum: [1, 12, 123, true, null, 'one'] },
    { const: '<\\/code>' },
    {},
  ),
)

const { schema } = fc.letrec<{ schema: unknown; object: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    tie('schema').map((items) => ({ type: 'array', items })),
    tie('object'),
  ),
  object: fc.oneof(
    fc
      .record({
        names: fc.uniqueArray(fc.constantFrom('a', 'ab', 'b', '<think>', 'é', 'x"y'), { maxLength: 3 }),
        parts: fc.array(tie('schema'), { minLength: 3, maxLength: 3 }),
        required: fc.integer({ min: 0, max: 3 }),
        additional: fc.constantFrom(undefined, true, false),
      })
      .map(({ names, parts, required, additional }) => ({
        type: 'object',
        properties: Object.fromEntries(names.map((name, index) => [name, parts[index]])),
        required: names.slice(0, required),
        ...(additional === undefined ? {} : { additionalProperties: additional }),
      })),
    tie('schema').map((additionalProperties) => ({ type: 'object', additionalProperties })),
  ),
}))

/** A schema using the parts that constraints enforce. */
export const randomSchema = schema.map((part) =>
  (part as { type?: unknown }).type === 'object'
    ? (part as Record<string, unknown>)
    : { type: 'object', properties: { only: part }, required: ['only'] },
)

const payload = fc.oneof(
  fc.constantFrom(
    { syntax: 'text' },
    { syntax: 'list' },
    { syntax: 'code', languages: ['py', 'python', 'C++'], stdin: true },
    { syntax: 'code', languages: ['js'], stdin: false },
    { syntax: 'json' },
  ),
  randomSchema.map((written) => ({ syntax: 'json', schema: written })),
)

/** Small grammars: any valid successor relation, any payloads, similar tags. */
export const randomGrammar: fc.Arbitrary<Grammar> = fc
  .record({
    roles: fc.integer({ min: 0, max: 2 }),
    tools: fc.integer({ min: 0, max: 2 }),
    prelude: fc.constantFrom('none', 'optional', 'required'),
    links: fc.array(fc.boolean(), { minLength: 64, maxLength: 64 }),
    tags: fc.shuffledSubarray(tags, { minLength: 8, maxLength: 8 }),
    payloads: fc.array(payload, { minLength: 3, maxLength: 3 }),
  })
  .map(({ roles, tools, prelude, links, tags, payloads }) => {
    let used = 0
    const roleNames = Array.from({ length: roles }, (_, index) => `role${index}`)
    const toolNames = Array.from({ length: tools }, (_, index) => `tool${index}`)
    const actors = [...roleNames, ...toolNames, 'answer']
    const some = (): string[] => actors.filter(() => links[used++]!)
    const agent = (name: string, kind: string, rest: object = {}): object => ({
      name,
      kind,
      tag: tags[used++ % tags.length],
      description: 'd',
      ...rest,
    })
    return {
      name: 'random',
      description: 'random',
      start: [...new Set([actors[0], ...some()])],
      ...(prelude === 'none'
        ? {}
        : { prelude: { agent: 'before', before: ['answer', ...some()], required: prelude === 'required' } }),
      agents: [
        ...(prelude === 'none' ? [] : [agent('before', 'role')]),
        ...roleNames.map((name) => agent(name, 'role', { next: some() })),
        ...toolNames.map((name, index) => agent(name, 'tool', { next: some(), payload: payloads[index] })),
        ...(tools > 0 ? [agent('observation', 'observation')] : []),
        agent('answer', 'answer', { payload: payloads[2] }),
      ].map((written, index) => ({ ...written, tag: tags[index] })),
    }
  })
  .map((definition) => GrammarDefinition.parse(definition))
  .filter((definition) => findProblems(definition).length === 0)
  .map((definition) => defineGrammar(definition))
