import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  defineGrammar,
  findProblems,
  type Grammar,
  GrammarDefinition,
  validate,
} from '../../src/language/grammar/index.ts'
import { allowedSpeakers, grammars, RUNS } from './arbitraries.ts'

/**
 * The slow reference: decides whether a grammar allows a complete list, with conditions over positions and no running
 * state. Written from the documentation of the definition, not from the automaton.
 */
function referenceAccepts({ definition }: Grammar, speakers: string[]): boolean {
  const kindOf = (name: string): string | undefined =>
    definition.agents.find((agent) => agent.name === name)?.kind
  const nextOf = (name: string): string[] => definition.agents.find((agent) => agent.name === name)!.next
  const positions = speakers.map((_, index) => index)
  const { prelude } = definition
  const isPrelude = (index: number): boolean => prelude !== undefined && speakers[index] === prelude.agent
  const isObservation = (index: number): boolean => kindOf(speakers[index]!) === 'observation'
  if (speakers.some((name) => kindOf(name) === undefined)) return false
  // The last agent is the answer, and it occurs only once.
  if (speakers.length === 0) return false
  if (!positions.every((i) => (kindOf(speakers[i]!) === 'answer') === (i === speakers.length - 1)))
    return false
  // An observation comes directly after each tool and nowhere else.
  if (!positions.every((i) => isObservation(i) === (i > 0 && kindOf(speakers[i - 1]!) === 'tool')))
    return false
  // A prelude comes directly before one of its agents.
  if (!positions.every((i) => !isPrelude(i) || prelude!.before.includes(speakers[i + 1] ?? ''))) return false
  // If it is required, each of its agents has one.
  if (
    prelude?.required === true &&
    !positions.every((i) => !prelude.before.includes(speakers[i]!) || isPrelude(i - 1))
  ) {
    return false
  }
  // Without preludes and observations, the first is a start agent and each next one is a successor.
  const actors = speakers.filter((_, i) => !isPrelude(i) && !isObservation(i))
  return actors.every((name, i) => (i === 0 ? definition.start : nextOf(actors[i - 1]!)).includes(name))
}

/** Small random grammars: any successor relation that passes the checks. */
const randomGrammar: fc.Arbitrary<Grammar> = fc
  .record({
    roles: fc.integer({ min: 1, max: 3 }),
    tools: fc.integer({ min: 0, max: 2 }),
    withPrelude: fc.constantFrom('none', 'optional', 'required'),
    links: fc.array(fc.boolean(), { minLength: 64, maxLength: 64 }),
  })
  .map(({ roles, tools, withPrelude, links }) => {
    let used = 0
    const flip = (): boolean => links[used++]!
    const roleNames = Array.from({ length: roles }, (_, i) => `role${i}`)
    const toolNames = Array.from({ length: tools }, (_, i) => `tool${i}`)
    const actors = [...roleNames, ...toolNames, 'answer']
    const some = (): string[] => actors.filter(flip)
    const definition = GrammarDefinition.parse({
      name: 'random',
      description: 'random',
      start: [...new Set([actors[0], ...some()])],
      ...(withPrelude === 'none'
        ? {}
        : {
            prelude: {
              agent: 'think',
              before: [...new Set(['answer', ...some()])],
              required: withPrelude === 'required',
            },
          }),
      agents: [
        ...(withPrelude === 'none' ? [] : [{ name: 'think', kind: 'role', description: 'd' }]),
        ...roleNames.map((name) => ({ name, kind: 'role', description: 'd', next: some() })),
        ...toolNames.map((name) => ({ name, kind: 'tool', description: 'd', next: some() })),
        ...(tools > 0 ? [{ name: 'observation', kind: 'observation', description: 'd' }] : []),
        { name: 'answer', kind: 'answer', description: 'd' },
      ],
    })
    return definition
  })
  .filter((definition) => findProblems(definition).length === 0)
  .map((definition) => defineGrammar(definition))

/** An allowed order with up to two edits: close to the border between valid and invalid, where bugs are likely. */
function nearlyAllowed(grammar: Grammar): fc.Arbitrary<string[]> {
  const names = [...grammar.agents.keys()]
  const edit = fc.record({
    at: fc.nat(),
    remove: fc.boolean(),
    insert: fc.option(fc.constantFrom(...names), { nil: null }),
  })
  return fc.tuple(allowedSpeakers(grammar), fc.array(edit, { maxLength: 2 })).map(([speakers, edits]) => {
    const edited = [...speakers]
    for (const { at, remove, insert } of edits) {
      edited.splice(at % (edited.length + 1), remove ? 1 : 0, ...(insert === null ? [] : [insert]))
    }
    return edited
  })
}

describe('the validator accepts exactly what the reference accepts', () => {
  it.each(grammars.map((grammar) => [grammar.name, grammar] as const))('in grammar %s', (_, grammar) => {
    const tally = { accepted: 0, refused: 0 }
    const anyOrder = fc.array(fc.constantFrom(...grammar.agents.keys(), 'nobody'), { maxLength: 8 })
    fc.assert(
      fc.property(
        fc.oneof({ weight: 4, arbitrary: nearlyAllowed(grammar) }, { weight: 1, arbitrary: anyOrder }),
        (speakers) => {
          const expected = referenceAccepts(grammar, speakers)
          tally[expected ? 'accepted' : 'refused']++
          expect(validate(grammar, speakers).ok).toBe(expected)
        },
      ),
      { numRuns: RUNS },
    )
    // The comparison is meaningful only if both outcomes occur.
    expect(Math.min(tally.accepted, tally.refused)).toBeGreaterThan(RUNS / 50)
  })

  it('in random grammars', () => {
    const tally = { accepted: 0, refused: 0 }
    const sample = randomGrammar.chain((grammar) =>
      nearlyAllowed(grammar).map((speakers) => ({ grammar, speakers })),
    )
    fc.assert(
      fc.property(sample, ({ grammar, speakers }) => {
        const expected = referenceAccepts(grammar, speakers)
        tally[expected ? 'accepted' : 'refused']++
        expect(validate(grammar, speakers).ok).toBe(expected)
      }),
      { numRuns: RUNS },
    )
    expect(Math.min(tally.accepted, tally.refused)).toBeGreaterThan(RUNS / 50)
  })
})
