import fc from 'fast-check'
import { expect, it } from 'vitest'
import { builtinGrammars } from '../language/grammar/index.ts'
import { byteTokenizer } from '../language/tokens/index.ts'
import { isTrained, streamText } from '../schema/index.ts'
import { ChainReader } from './chain-reader.ts'
import { Context } from './context.ts'
import { rolloutSpans } from './rollout-spans.ts'

const grammar = builtinGrammars.get('math')!
const tokenizer = byteTokenizer()

/** Turns, partial turns, observations made up by the model, stray text, and characters split in the middle. */
const piece = fc.oneof(
  fc.constantFrom(
    '<plan>p</plan>',
    '<think>é</think>',
    '<think>',
    '</think>',
    '<code>1</code>',
    '<observation>made up</observation>',
    '<answer>\\boxed{1}</answer>',
    '\n',
    'stray ',
    '漢',
  ),
  fc.string({ maxLength: 5 }),
)
const sampled = fc.tuple(fc.array(piece, { maxLength: 6 }), fc.nat(2)).map(([pieces, cut]) => {
  const { ids } = tokenizer.encodeContinuation(pieces.join(''))
  return ids.subarray(0, Math.max(0, ids.length - cut))
})

it('spans carry all text and all tokens in order, and mask exactly what the runtime inserted', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(sampled, fc.string()), { minLength: 1, maxLength: 5 }), (turns) => {
      const reader = new ChainReader(grammar, tokenizer)
      const context = new Context([1])
      const inserted: string[] = []
      const policies: number[] = []
      const wanted: { token: number; masked: boolean }[] = []
      for (const [request, [tokens, output]] of turns.entries()) {
        const { count } = reader.read(tokens)
        const logprobs = Float32Array.from({ length: count }, (_, at) => -at)
        // The weights change in the middle of the request.
        const steps = Array.from(tokens, (_, at) => request + Number(at > 2))
        for (const step of steps.slice(0, count)) policies.push(step)
        context.addSampled(request, { tokens, logprobs, modelLogprobs: logprobs }, count, false, steps)
        for (const token of tokens.subarray(0, count)) wanted.push({ token, masked: false })
        const text = `\n<observation>${output}</observation>\n`
        const { ids } = tokenizer.encodeContinuation(text)
        context.addObservation(request, ids)
        reader.insert(text)
        inserted.push(text)
        for (const token of ids) wanted.push({ token, masked: true })
      }
      reader.end()
      const spans = rolloutSpans(grammar, reader, context.parts)
      expect(streamText({ spans })).toBe(reader.text)
      expect(
        spans.flatMap((span) => span.tokens!.map((token) => ({ token, masked: !isTrained(span) }))),
      ).toEqual(wanted)
      expect(spans.filter((span) => !isTrained(span)).map(({ text }) => text)).toEqual(inserted)
      const runs = spans.flatMap((span) => span.policies ?? [])
      expect(runs.flatMap(({ step, tokens }) => Array<number>(tokens).fill(step))).toEqual(policies)
      for (const span of spans) {
        if (!isTrained(span)) continue
        expect([span.logprobs!.length, span.modelLogprobs!.length]).toEqual([
          span.tokens!.length,
          span.tokens!.length,
        ])
      }
    }),
    { numRuns: 1_000 },
  )
})
