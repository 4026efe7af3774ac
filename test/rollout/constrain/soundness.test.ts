import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Constraint, createConstraint } from '../../../src/agent/constrain/index.ts'
import { type Grammar, isWellFormed, parseChain } from '../../../src/language/grammar/index.ts'
import { grammars, nastyText } from '../../grammar/arbitraries.ts'
import { howMany } from '../../how-many.ts'
import { randomGrammar } from './random-grammar.ts'
import { allowedIn, faults, randomWalk } from './random-walk.ts'
import { walkTokenizers } from './tokenizers.ts'

const RUNS = howMany(2_000)
const tokenizers = await walkTokenizers()

const walkOptions = fc.record({
  seed: fc.nat(),
  most: fc.integer({ min: 1, max: 400 }),
  observation: nastyText,
})

describe.each(tokenizers)('tokens of %s', (_, tokenizer) => {
  const endTokens = [tokenizer.eosId!]

  function prove(anyConstraint: fc.Arbitrary<[Grammar, Constraint]>): void {
    const tally = { ended: 0, calls: 0 }
    fc.assert(
      fc.property(anyConstraint, walkOptions, ([grammar, constraint], options) => {
        const walk = randomWalk(grammar, tokenizer, constraint, options)
        expect(walk.stuck, walk.text).toBe(false)
        expect(faults(grammar, walk), walk.text).toEqual([])
        const chain = parseChain(grammar, walk.text, { strict: true })
        tally.calls += chain.calls.length
        if (!walk.state.ended) return
        tally.ended++
        expect(isWellFormed(chain)).toBe(true)
        expect(allowedIn(walk.state.allowed())).toEqual(endTokens)
      }),
      { numRuns: RUNS },
    )
    // Walks that never finish would prove nothing.
    expect(tally.ended).toBeGreaterThan(RUNS / 5)
    expect(tally.calls).toBeGreaterThan(RUNS / 5)
  }

  it('random walks in built-in grammars are well formed', () => {
    const constraints = grammars.map((grammar): [Grammar, Constraint] => [
      grammar,
      createConstraint(grammar, tokenizer, { endTokens }),
    ])
    for (const [, constraint] of constraints) expect(constraint.unchecked).toEqual([])
    prove(fc.constantFrom(...constraints))
  })

  it('random walks in random grammars are well formed', () => {
    prove(
      randomGrammar
        .map((grammar) => [grammar, createConstraint(grammar, tokenizer, { endTokens })] as const)
        .map(([grammar, constraint]) => [grammar, constraint]),
    )
  })
})
