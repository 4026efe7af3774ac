import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { howMany } from '../../../../test/how-many.ts'
import { parseToml } from '../../../settings/toml.ts'
import {
  builtinGrammars,
  defineGrammar,
  extendGrammar,
  type Grammar,
  type GrammarInput,
  type ToolAgent,
  validate,
} from '../index.ts'
import { fitGrammar, fittedToml } from './index.ts'

const payloads = [
  { syntax: 'text' },
  { syntax: 'list' },
  {
    syntax: 'json',
    schema: { type: 'object', required: ['a "b"'], properties: { 'a "b"': { type: 'string' } } },
  },
  { syntax: 'code', languages: ['py'], stdin: true },
] satisfies ToolAgent['payload'][]
const tools: ToolAgent[] = payloads.map((payload, index) => ({
  name: `tool_${index}`,
  description: `Tool ${index}: "quoted" \u007f \\.`,
  payload,
}))
const open: Grammar = extendGrammar(builtinGrammars.get('open')!, tools)
const speakers = ['plan', 'reflection', ...tools.map(({ name }) => name)]

const turn = fc
  .tuple(fc.constantFrom(...speakers), fc.boolean())
  .map(([name, thinks]) => [
    ...(thinks ? ['think'] : []),
    name,
    ...(name.startsWith('tool') ? ['observation'] : []),
  ])
/** Any order of plans, reflections and tools, with or without thoughts; some never come to an answer. */
const order = fc
  .tuple(fc.array(turn, { maxLength: 6 }), fc.constantFrom(['answer'], ['think', 'answer'], []))
  .map(([turns, end]) => [...turns.flat(), ...end])
const runs = fc
  .array(order, { minLength: 1, maxLength: 8 })
  .map((orders) => orders.map((agents, index) => ({ id: `run-${index}`, agents })))

const options = { name: 'fitted', description: 'Fitted.', minShare: 0 }
const accepted = (definition: GrammarInput, agents: readonly string[]): boolean =>
  validate(defineGrammar(definition), agents).ok

/** The grammar without one of its transitions, whether or not it is still a sensible one. */
function without(grammar: Grammar, from: string | null, to: string): Grammar {
  const cut = (next: readonly string[]): string[] => next.filter((name) => name !== to)
  if (from === null) return { ...grammar, start: cut(grammar.start) }
  const agent = grammar.agents.get(from)!
  return { ...grammar, agents: new Map([...grammar.agents, [from, { ...agent, next: cut(agent.next) }]]) }
}

describe('a fitted grammar', () => {
  it('accepts what it says fits, and nothing of it can be removed', () => {
    fc.assert(
      fc.property(runs, fc.constantFrom(0, 0.3, 0.6), (all, minShare) => {
        const fit = fitGrammar(all, open, { ...options, minShare })
        const answered = all.filter(({ agents }) => agents.at(-1) === 'answer')
        if (fit === undefined) {
          if (minShare === 0) expect(answered).toEqual([])
          return
        }
        const { definition, fits, lost, transitions } = fit
        expect([...fits, ...lost.map(({ id }) => id)].sort()).toEqual(all.map(({ id }) => id).sort())
        if (minShare === 0) expect(fits).toEqual(answered.map(({ id }) => id))
        const fitting = all.filter(({ id }) => fits.includes(id))
        for (const { agents } of fitting) expect(accepted(definition, agents)).toBe(true)
        const grammar = defineGrammar(definition)
        for (const { from, to } of transitions) {
          const less = without(grammar, from, to)
          expect(fitting.some(({ agents }) => !validate(less, agents).ok)).toBe(true)
        }
        const listed = grammar.start.length + [...grammar.agents.values()].flatMap(({ next }) => next).length
        expect(transitions).toHaveLength(listed)
        const said = new Set(fitting.flatMap(({ agents }) => agents))
        expect(new Set(grammar.agents.keys())).toEqual(said)
        if (definition.prelude?.required === true)
          for (const { agents } of fitting)
            for (const [index, name] of agents.entries())
              if (definition.prelude.before.includes(name)) expect(agents[index - 1]).toBe('think')
      }),
      { numRuns: howMany(10_000) },
    )
  })

  it('is the same after it was written as TOML and read again', () => {
    fc.assert(
      fc.property(runs, (all) => {
        const fit = fitGrammar(all, open, options)
        if (fit === undefined) return
        const read = parseToml(fittedToml(fit, ['A remark.']), 'fitted.toml') as unknown as GrammarInput
        expect(defineGrammar(read).definition).toEqual(defineGrammar(fit.definition).definition)
      }),
      { numRuns: 1000 },
    )
  })

  it('drops rare transitions with the runs that need them, and says so', () => {
    const usual = Array.from({ length: 9 }, (_, index) => ({
      id: `run-${index}`,
      agents: ['plan', 'answer'],
    }))
    const fit = fitGrammar([...usual, { id: 'odd', agents: ['plan', 'plan', 'answer'] }], open, {
      ...options,
      minShare: 0.2,
    })!
    expect(fit.lost).toEqual([{ id: 'odd', reason: 'plan → plan is too rare' }])
    expect(fit.definition.agents.find(({ name }) => name === 'plan')?.next).toEqual(['answer'])
    const toml = fittedToml(fit, [])
    expect(toml).toContain('# 9 of 10 runs fit (90.0%).\n# Too rare: plan → plan, in 1 run.')
    expect(toml).toContain('  "answer",  # 9 times, in 9 runs')
    expect(toml).not.toContain('[prelude]')
  })

  it('leaves out a schema with null, which TOML does not have', () => {
    const schema = { type: 'object', properties: { a: { enum: ['x', null] } } }
    const tool = { name: 'look', description: 'Look.', payload: { syntax: 'json' as const, schema } }
    const grammar = extendGrammar(builtinGrammars.get('open')!, [tool])
    const fit = fitGrammar([{ id: 'a', agents: ['look', 'observation', 'answer'] }], grammar, options)!
    expect(fittedToml(fit, [])).toContain('payload = { syntax = "json" }')
  })
})

describe('the open grammar', () => {
  it('accepts any order of plans, reflections, tools and thoughts that ends with an answer', () => {
    fc.assert(
      fc.property(order, (agents) => {
        const { ok, violations } = validate(open, agents)
        expect(ok).toBe(agents.at(-1) === 'answer')
        // Without an answer, that is all that is wrong.
        expect(violations.map(({ found }) => found)).toEqual(ok ? [] : [null])
      }),
      { numRuns: 10_000 },
    )
  })

  it('has every tool wherever the answer may be given, and an agent for their output', () => {
    expect(builtinGrammars.get('open')!.observation).toBeNull()
    expect(open.observation?.name).toBe('observation')
    const names = [...speakers, 'answer'].sort()
    for (const name of speakers) expect([...open.agents.get(name)!.next].sort()).toEqual(names)
    expect([...open.start].sort()).toEqual(names)
    expect([...open.prelude!.before].sort()).toEqual(names)
    expect(open.prelude!.required).toBe(false)
  })

  it('keeps the places of the answer in a grammar without tools that is not open', () => {
    const strict = defineGrammar({
      name: 'strict',
      description: 'A plan first.',
      start: ['plan'],
      agents: [
        { name: 'plan', kind: 'role', description: 'Plan.', next: ['note'] },
        { name: 'note', kind: 'role', description: 'Note.', next: ['note', 'answer'] },
        { name: 'answer', kind: 'answer', description: 'Answer.' },
      ],
    })
    const extended = extendGrammar(strict, [tools[0]!])
    expect(extended.agents.get('tool_0')!.next).toEqual(['note', 'answer', 'tool_0'])
    expect(extended.agents.get('plan')!.next).toEqual(['note'])
    expect(validate(extended, ['plan', 'note', 'tool_0', 'observation', 'answer']).ok).toBe(true)
    expect(validate(extended, ['tool_0', 'observation', 'answer']).ok).toBe(false)
  })
})
