import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  builtinGrammars,
  defineGrammar,
  exampleChains,
  type Grammar,
  parseChain,
  render,
} from '../language/grammar/index.ts'
import { ChainSteps, type Step } from './chain-steps.ts'
import { answerText } from './tool-calls.ts'

/** What a listener is told, with the text of each step joined. */
function told(grammar: Grammar, pieces: readonly (readonly [string, 'model' | 'tool'])[]): Step[] {
  const steps = new Map<Step, string>()
  const chain = new ChainSteps(grammar, {
    opened: (step) => void steps.set(step, ''),
    text: (step, text) => void steps.set(step, steps.get(step)! + text),
    closed: () => {},
  })
  for (const [text, from] of pieces) chain.push(text, from)
  chain.end()
  expect([...steps.keys()]).toEqual(chain.steps)
  return [...steps].map(([step, text]) => {
    expect(step.text).toBe(text)
    return { ...step, text }
  })
}

/** Cuts a text anywhere. */
const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 30 })
function cut(text: string, at: readonly number[]): string[] {
  const places = [...new Set(at.map((place) => place % (text.length + 1)))].sort((one, other) => one - other)
  return [...places, text.length].map((end, index) => text.slice(places[index - 1] ?? 0, end))
}

it.each([...exampleChains])('%s: the steps of a chain, however it arrives', (name, { steps }) => {
  const grammar = builtinGrammars.get(name)!
  const expected = steps.map(({ agent, text }) => ({ agent, text: text.trim() }))
  const pieces = steps.map(
    (step, at) =>
      [
        `${at > 0 ? '\n' : ''}${render(grammar, [step])}`,
        grammar.agents.get(step.agent)!.kind === 'observation' ? 'tool' : 'model',
      ] as const,
  )
  fc.assert(
    fc.property(cuts, (at) => {
      const chunks = pieces.flatMap(([text, from]) =>
        (from === 'tool' ? [text] : cut(text, at)).map((part) => [part, from] as const),
      )
      const seen = told(grammar, chunks)
      expect(
        seen.map(({ agent, kind, text, payload }) =>
          kind === 'answer' || payload !== undefined ? { agent } : { agent, text },
        ),
      ).toEqual(
        expected.map(({ agent, text }) =>
          ['tool', 'answer'].includes(grammar.agents.get(agent)!.kind) ? { agent } : { agent, text },
        ),
      )
      const answer = parseChain(grammar, pieces.map(([text]) => text).join('')).answer!
      expect(seen.at(-1)!.text).toBe(answerText(answer.payload))
    }),
  )
})

const syntaxes = ['text', 'list', 'code', 'json'] as const
const answering = Object.fromEntries(
  syntaxes.map((syntax) => [
    syntax,
    defineGrammar({
      name: 'short',
      description: 'Answer.',
      start: ['answer'],
      agents: [
        {
          name: 'answer',
          kind: 'answer',
          description: 'Answer.',
          payload: syntax === 'code' ? { syntax, languages: ['py'] } : { syntax },
        },
      ],
    }),
  ]),
)

/** Bodies made of what matters to any payload syntax. */
const body = fc
  .array(
    fc.constantFrom(
      'a',
      'b c',
      ' ',
      '\n',
      '|',
      '\\',
      '\\|',
      '<',
      '</',
      '<\\/answer>',
      '<\\',
      '/',
      '```',
      '```py\n',
      '{"a":',
      '1}',
      '~',
      'é',
      '🦙',
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''))

it.each(syntaxes)('%s: an answer is passed on as it is written, and is the same in the end', (syntax) => {
  const grammar = answering[syntax]!
  fc.assert(
    fc.property(body, cuts, (inner, at) => {
      const text = `<answer>${inner}</answer>`
      const answer = parseChain(grammar, text).answer
      fc.pre(answer !== null && answer.end === text.length)
      const seen = told(
        grammar,
        cut(text, at).map((part) => [part, 'model'] as const),
      )
      expect(seen.map(({ kind }) => kind)).toEqual(['answer'])
      expect(seen[0]!.text).toBe(answerText(answer!.payload))
    }),
    { numRuns: syntax === 'json' ? 100 : 2000 },
  )
})

it('a long answer does not wait for its end', () => {
  const steps: string[] = []
  const chain = new ChainSteps(answering['text']!, {
    opened: () => {},
    text: (_, text) => void steps.push(text),
    closed: () => {},
  })
  for (const piece of ['<answer>', 'It is', ' 4', '2, or ', 'x < 3 </ans', 'wer', '>'])
    chain.push(piece, 'model')
  expect(steps).toEqual(['It is', ' 4', '2, or', ' x < 3'])
})

it('what the model writes beyond a call is not shown, and its own observations are no observations', () => {
  const grammar = builtinGrammars.get('math')!
  const chain = new ChainSteps(grammar)
  chain.push('Well. <observation>99</observation><code>\n```py\nprint(1)\n```\n</code>', 'model')
  chain.push(' and more', 'model')
  chain.called({ agent: 'code', outcome: 'ok', ms: 3, cached: false })
  chain.push('\n<observation>1</observation>\n', 'tool')
  chain.push('<reflection>fine', 'model')
  chain.end()
  expect(chain.steps.map(({ kind, text, outcome }) => [kind, text, outcome])).toEqual([
    ['role', 'Well.', undefined],
    ['role', '99', undefined],
    ['call', '```py\nprint(1)\n```', undefined],
    ['observation', '1', 'ok'],
    ['role', 'fine', undefined],
  ])
})
