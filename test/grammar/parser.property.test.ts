import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ChainParser,
  joinText,
  type ParseEvent,
  parseChain,
  render,
  renderPayload,
  renderSpans,
  spansOf,
} from '../../src/language/grammar/index.ts'
import {
  allowedSpeakers,
  anyGrammar,
  anySteps,
  cutUp,
  grammars,
  nastyText,
  payloadFor,
  RUNS,
} from './arbitraries.ts'

const runs = { numRuns: RUNS }

describe.each(grammars.map((grammar) => [grammar.name, grammar] as const))('grammar %s', (_, grammar) => {
  it('parses back every step it renders, whatever the text', () => {
    fc.assert(
      fc.property(anySteps(grammar), (steps) => {
        const { blocks, raw } = parseChain(grammar, render(grammar, steps))
        expect(blocks.map(({ agent, text }) => ({ agent, text }))).toEqual(steps)
        expect(blocks.every((block) => block.closed)).toBe(true)
        expect(spansOf(parseChain(grammar, raw))).toEqual(renderSpans(grammar, steps))
      }),
      runs,
    )
  })

  it('parses back every payload it renders', () => {
    const speakers = [...grammar.agents.values()].filter(({ kind }) => kind === 'tool' || kind === 'answer')
    const utterance = fc
      .constantFrom(...speakers)
      .chain((agent) => payloadFor(grammar, agent.name).map((payload) => ({ agent: agent.name, payload })))
    fc.assert(
      fc.property(utterance, ({ agent, payload }) => {
        const chain = parseChain(grammar, render(grammar, [{ agent, text: renderPayload(payload) }]))
        const [read] = chain.answer === null ? chain.calls : [chain.answer]
        expect(read?.payload).toEqual(payload)
        // Nothing to repair except grammar tags quoted in the payload itself.
        expect(chain.diagnostics.filter(({ code }) => !['nested-tag', 'crossed-tag'].includes(code))).toEqual(
          [],
        )
      }),
      runs,
    )
  })

  it('accepts what it renders in an allowed order, including every call and the answer', () => {
    const plain = fc.string({ maxLength: 10 }).map((text) => text.replaceAll('<', '('))
    fc.assert(
      fc.property(allowedSpeakers(grammar), plain, (speakers, filler) => {
        const steps = speakers.map((agent) => ({ agent, text: sample(agent) ?? filler }))
        const chain = parseChain(grammar, render(grammar, steps), { strict: true })
        expect(chain.diagnostics).toEqual([])
        expect(chain.calls.length).toBe(
          speakers.filter((name) => grammar.agents.get(name)!.kind === 'tool').length,
        )
        const answered = speakers.at(-1) === grammar.answer.name
        expect(chain.answer !== null).toBe(answered)
        expect(chain.order.ok).toBe(answered)
      }),
      runs,
    )
  })

  function sample(name: string): string | undefined {
    const agent = grammar.agents.get(name)!
    if (agent.kind !== 'tool' && agent.kind !== 'answer') return undefined
    return { text: 'query', list: 'a | b', code: '```py\nprint(1)\n```', json: '{"file_path":"a.png"}' }[
      agent.payload.syntax
    ]
  }
})

describe('any text', () => {
  it('gives the same events for any chunking', () => {
    fc.assert(
      fc.property(
        anyGrammar,
        nastyText,
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.boolean(),
        (grammar, text, cuts, strict) => {
          const whole = feed(new ChainParser(grammar, { strict }), [text])
          expect(feed(new ChainParser(grammar, { strict }), cutUp(text, cuts))).toEqual(whole)
          expect(
            feed(
              new ChainParser(grammar, { strict }),
              [...text].flatMap((point) => point.split('')),
            ),
          ).toEqual(whole)
        },
      ),
      runs,
    )
  })

  it('is covered by the events and by the spans, character for character', () => {
    fc.assert(
      fc.property(anyGrammar, nastyText, fc.boolean(), (grammar, text, strict) => {
        const parser = new ChainParser(grammar, { strict })
        let at = 0
        for (const event of [...parser.push(text), ...parser.end()]) {
          if (event.type !== 'text' && event.type !== 'agent-opened' && event.type !== 'agent-closed')
            continue
          expect(event.start).toBe(at)
          if (event.type === 'text') expect(event.text).toBe(text.slice(event.start, event.end))
          at = event.end
        }
        expect(at).toBe(text.length)
        const spans = spansOf(parseChain(grammar, text, { strict }))
        expect(spans.map((span) => span.text).join('')).toBe(text)
      }),
      runs,
    )
  })

  it('marks every repair, and repairs nothing in strict mode', () => {
    fc.assert(
      fc.property(anyGrammar, nastyText, (grammar, text) => {
        const lenient = parseChain(grammar, text)
        for (const call of lenient.calls) {
          const inside = lenient.diagnostics.filter(
            ({ start, end }) => start >= call.start && end <= call.end,
          )
          expect(call.repaired).toBe(inside.length > 0)
        }
        const strict = parseChain(grammar, text, { strict: true })
        expect(strict.diagnostics.every((diagnostic) => diagnostic.repair === null)).toBe(true)
        expect(strict.calls.every((call) => !call.repaired)).toBe(true)
        // A call that needed no repair is a call in both modes, unless strict mode moved a boundary before it.
        if (lenient.diagnostics.length === 0) expect(strict.calls).toEqual(lenient.calls)
      }),
      runs,
    )
  })
})

function feed(parser: ChainParser, chunks: string[]): ParseEvent[] {
  return joinText([...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.end()])
}
