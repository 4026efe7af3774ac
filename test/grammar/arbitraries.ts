import fc from 'fast-check'
import { Automaton, type Grammar, type Payload, type Step } from '../../src/language/grammar/index.ts'
import { howMany } from '../how-many.ts'
import { grammarsWithEveryPayload } from './visual-inspector.ts'

export const grammars = grammarsWithEveryPayload
export const anyGrammar = fc.constantFrom(...grammars)

const tags = [
  ...new Set(grammars.flatMap((grammar) => [...grammar.agents.values()].map((agent) => agent.tag))),
]

/** Pieces that have broken parsers before, or might. */
const fragments = fc.oneof(
  fc.constantFrom(...tags.flatMap((tag) => [`<${tag}>`, `</${tag}>`])),
  fc.constantFrom(
    ...tags.flatMap((tag) => [`<${tag.toUpperCase()}>`, `</${tag[0]!.toUpperCase()}${tag.slice(1)}>`]),
  ),
  fc.constantFrom(
    ...tags.flatMap((tag) => [`<\\/${tag}>`, `<\\\\/${tag}>`, `</${tag}`, `<${tag}`, `<${tag} >`]),
  ),
  fc.constantFrom(
    '<',
    '>',
    '</',
    '/>',
    '<>',
    '</>',
    '<1>',
    '<a b>',
    '<br/>',
    '<p>',
    '</p>',
    '<|im_end|>',
    '<!--',
  ),
  fc.constantFrom(
    '```',
    '```py\n',
    '\n```\n',
    '````',
    '```sh\n',
    '\n\u00a0```\n',
    '\n\f```\n',
    '\n\t ```\n',
    '`',
    '{"file_path": "a"}',
    "{file_path: 'a'",
    '{',
    '}',
  ),
  fc.constantFrom('|', ' | ', '\\|', '\\', '\n', '\r\n', '\t', ' ', '\u00a0', '\u2028', '\0', '\ufeff'),
  fc.constantFrom('é', 'e\u0301', '漢字', '👩‍👩‍👧', '\ud83d', '\udc69', 'ﬁ', '각', 'א', '\\boxed{1}'),
  fc.constant('x'.repeat(70)),
)

/** Any text, with a high density of difficult pieces. */
export const nastyText = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(fc.oneof(fragments, fc.string({ maxLength: 8 })), { maxLength: 12 })
      .map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
)

const word = fc.oneof(nastyText, fc.string({ minLength: 1, maxLength: 12 })).map((text) => text.trim())
const nonEmptyWord = word.filter((text) => text !== '')

/** Payloads as the parser returns them: trimmed, without empty items. */
export function payloadFor(grammar: Grammar, name: string): fc.Arbitrary<Payload> {
  const { payload } = grammar.agents.get(name)!
  switch (payload.syntax) {
    case 'text':
      return nonEmptyWord.map((text) => ({ syntax: 'text', text }))
    case 'list':
      return fc
        .array(nonEmptyWord, { minLength: 1, maxLength: 4 })
        .map((items) => ({ syntax: 'list', items }))
    case 'code':
      return fc
        .record({
          language: fc.constantFrom(...payload.languages),
          code: nastyText.filter((text) => text.trim() !== ''),
          stdin: payload.stdin ? fc.option(nastyText, { nil: undefined }) : fc.constant(undefined),
        })
        .map(({ language, code, stdin }) => ({
          syntax: 'code',
          language,
          code,
          ...(stdin === undefined ? {} : { stdin }),
        }))
    case 'json': {
      const value =
        payload.schema === undefined
          ? fc.dictionary(fc.string(), fc.jsonValue({ noUnicodeString: false } as never))
          : fc.record({ file_path: nastyText, question: nastyText }, { requiredKeys: ['file_path'] })
      return value.map((object) => ({
        syntax: 'json',
        value: JSON.parse(JSON.stringify(object)) as Record<string, unknown>,
      }))
    }
  }
}

/** Steps in any order with any text; an answer can only be last because it ends the chain. */
export function anySteps(grammar: Grammar): fc.Arbitrary<Step[]> {
  const names = [...grammar.agents.keys()].filter((name) => name !== grammar.answer.name)
  const step = fc.record({ agent: fc.constantFrom(...names), text: nastyText })
  const last = fc.option(
    nastyText.map((text) => ({ agent: grammar.answer.name, text })),
    { nil: null },
  )
  return fc
    .tuple(fc.array(step, { maxLength: 8 }), last)
    .map(([steps, answer]) => (answer === null ? steps : [...steps, answer]))
}

/** Agents in an order the grammar allows: a walk through its automaton, usually up to the answer. */
export function allowedSpeakers(grammar: Grammar): fc.Arbitrary<string[]> {
  const finish = fc.integer({ min: 0, max: 4 }).map((dice) => dice > 0)
  return fc.tuple(fc.array(fc.nat(), { maxLength: 12 }), finish).map(([choices, finished]) => {
    const automaton = new Automaton(grammar)
    const speakers: string[] = []
    const speak = (name: string): void => {
      automaton.step(name)
      speakers.push(name)
    }
    for (const choice of choices) {
      const allowed = automaton.allowed()
      if (allowed.length > 0) speak(allowed[choice % allowed.length]!)
    }
    while (finished && !automaton.ended) speak(towardsAnswer(grammar, speakers, automaton.allowed()))
    return speakers
  })
}

/** The allowed agent on the shortest path to the answer. */
function towardsAnswer(grammar: Grammar, speakers: string[], allowed: string[]): string {
  const { prelude, agents, start } = grammar
  const isActor = (name: string): boolean =>
    name !== prelude?.agent && agents.get(name)!.kind !== 'observation'
  const last = speakers.findLast(isActor)
  const candidates = last === undefined ? start : agents.get(last)!.next
  const nearest = (names: readonly string[]): number =>
    Math.min(...names.map((name) => distance(grammar, name)))
  const cost = (name: string): number => {
    if (name === prelude?.agent)
      return nearest(candidates.filter((candidate) => prelude.before.has(candidate)))
    return isActor(name) ? distance(grammar, name) : 0
  }
  return allowed.reduce((best, name) => (cost(name) < cost(best) ? name : best))
}

function distance(grammar: Grammar, name: string): number {
  let reached = new Set([name])
  for (let steps = 0; ; steps++) {
    if (reached.has(grammar.answer.name)) return steps
    reached = new Set([...reached].flatMap((from) => [from, ...grammar.agents.get(from)!.next]))
  }
}

/** A text and positions to split it at. */
export function cutUp(text: string, cuts: number[]): string[] {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b)
  const chunks: string[] = []
  let from = 0
  for (const place of [...places, text.length]) {
    chunks.push(text.slice(from, place))
    from = place
  }
  return chunks
}

export const RUNS = howMany(10_000)
