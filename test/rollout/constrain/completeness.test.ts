import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Constraint, createConstraint } from '../../../src/agent/constrain/index.ts'
import {
  type Grammar,
  isWellFormed,
  parseChain,
  renderPayload,
  renderSpans,
  type Step,
} from '../../../src/language/grammar/index.ts'
import { encodeSpans, type Tokenizer } from '../../../src/language/tokens/index.ts'
import type { Span } from '../../../src/schema/index.ts'
import { allowedSpeakers, grammars, nastyText, payloadFor } from '../../grammar/arbitraries.ts'
import { howMany } from '../../how-many.ts'
import { walkTokenizers } from './tokenizers.ts'

const RUNS = howMany(2_000)
const tokenizers = await walkTokenizers()

/** Tags of the grammar make a text that no strict reader accepts, except the block's own closing tag, which is escaped. */
function withoutForeignTags(grammar: Grammar, { agent, text }: Step): Step {
  const own = `</${grammar.agents.get(agent)!.tag}>`.toLowerCase()
  const mended = text.replaceAll(/<(\/?)([\w.-]+)>/g, (written, slash: string, name: string) => {
    const isForeign = grammar.byTag.has(name.toLowerCase()) && written.toLowerCase() !== own
    return isForeign ? `< ${slash}${name}>` : written
  })
  return { agent, text: mended.toWellFormed() }
}

function wellFormedSteps(grammar: Grammar): fc.Arbitrary<Step[]> {
  return allowedSpeakers(grammar).chain((speakers) =>
    fc.tuple(
      ...speakers.map((agent) => {
        const { kind } = grammar.agents.get(agent)!
        const text =
          kind === 'tool' || kind === 'answer' ? payloadFor(grammar, agent).map(renderPayload) : nastyText
        return text.map((written) => withoutForeignTags(grammar, { agent, text: written }))
      }),
    ),
  )
}

/** The first token that a constraint forbids in a stream it should allow. */
function firstForbidden(constraint: Constraint, tokenizer: Tokenizer, spans: Span[]): string | undefined {
  const { ids, spanOf } = encodeSpans(tokenizer, spans, { continues: true })
  let state = constraint.start()
  let inserted = -1
  for (const [index, token] of ids.entries()) {
    const span = spans[spanOf[index]!]!
    if (span.kind !== 'observation') {
      if (state.allowed()[token] !== 1)
        return `token ${index} ${JSON.stringify(tokenizer.decode([token]))} after ${JSON.stringify(tokenizer.decode(ids.slice(0, index)))}`
      state = state.after(token)
    } else if (inserted !== spanOf[index]) {
      inserted = spanOf[index]!
      state = state.inserted(span.text)
    }
  }
  const complete = spans.at(-1)?.kind === 'answer'
  return state.ended === complete ? undefined : 'the state at the end'
}

describe.each(tokenizers)('tokens of %s', (_, tokenizer) => {
  it.each(grammars.map((grammar) => [grammar.name, grammar] as const))(
    'every well-formed chain of %s is allowed as it is encoded',
    (_, grammar) => {
      const constraint = createConstraint(grammar, tokenizer, { endTokens: [tokenizer.eosId!] })
      let checked = 0
      fc.assert(
        fc.property(wellFormedSteps(grammar), (steps) => {
          const spans = renderSpans(grammar, steps)
          const chain = parseChain(grammar, spans.map(({ text }) => text).join(''), { strict: true })
          if (chain.diagnostics.length > 0) return
          checked++
          expect(isWellFormed(chain)).toBe(steps.at(-1)?.agent === grammar.answer.name)
          expect(firstForbidden(constraint, tokenizer, spans)).toBeUndefined()
        }),
        { numRuns: RUNS },
      )
      expect(checked).toBeGreaterThan(RUNS / 2)
    },
  )
})
