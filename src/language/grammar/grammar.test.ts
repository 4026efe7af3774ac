import { describe, expect, it } from 'vitest'
import { GrammarError } from '../../base/errors/index.ts'
import { builtinGrammars } from './builtin/index.ts'
import type { GrammarInput } from './definition.ts'
import { defineGrammar } from './grammar.ts'
import { buildPrompt, systemPrompt } from './prompt.ts'
import { render } from './spans.ts'
import { validate } from './validate.ts'

const support: GrammarInput = {
  name: 'support',
  description: 'Answers questions about orders.',
  start: ['lookup'],
  agents: [
    {
      name: 'lookup',
      kind: 'tool',
      description: 'Find an order.',
      payload: { syntax: 'json' },
      next: ['lookup', 'answer'],
    },
    { name: 'result', tag: 'tool_response', kind: 'observation', description: 'The order.' },
    { name: 'answer', kind: 'answer', description: 'Tell the customer.' },
  ],
}

/** Defines the grammar with one change. */
function broken(change: (definition: GrammarInput) => void): () => unknown {
  const definition = structuredClone(support)
  change(definition)
  return () => defineGrammar(definition)
}

describe('defineGrammar', () => {
  it('accepts a well-formed definition', () => {
    const grammar = defineGrammar(support)
    expect(grammar.observation?.tag).toBe('tool_response')
    expect(validate(grammar, ['lookup', 'result', 'answer']).ok).toBe(true)
  })

  it.each<[string, (definition: GrammarInput) => void, string]>([
    ['a name that does not resolve', (d) => d.agents[0]!.next!.push('anser'), 'did you mean "answer"'],
    ['two agents with the same name', (d) => d.agents.push(d.agents[0]!), 'two agents are named "lookup"'],
    [
      'tags that differ only in case',
      (d) => {
        d.agents[0]!.tag = 'Answer'
      },
      'share the tag',
    ],
    [
      'no answer',
      (d) => {
        d.agents.pop()
        d.agents[0]!.next = ['lookup']
      },
      'exactly one agent of kind "answer"',
    ],
    ['tools without observation', (d) => d.agents.splice(1, 1), 'needs an agent of kind "observation"'],
    [
      'an unreachable agent',
      (d) => d.agents.push({ name: 'lost', kind: 'role', description: 'd', next: ['answer'] }),
      'is unreachable',
    ],
    [
      'a dead end',
      (d) => {
        d.agents.push({ name: 'trap', kind: 'role', description: 'd', next: [] })
        d.start.push('trap')
      },
      'dead end',
    ],
    [
      'an answer with successors',
      (d) => {
        d.agents[2]!.next = ['lookup']
      },
      'ends the chain',
    ],
    ['an observation as a successor', (d) => d.agents[0]!.next!.push('result'), 'follow tools automatically'],
    [
      'a prelude that is not an agent',
      (d) => {
        d.prelude = { agent: 'think', before: ['answer'] }
      },
      'which is not an agent',
    ],
    [
      'an unknown key',
      (d) => {
        Object.assign(d, { color: 'red' })
      },
      'Unrecognized key',
    ],
    [
      'a tag with a space',
      (d) => {
        d.agents[0]!.tag = 'look up'
      },
      'a tag consists of letters',
    ],
  ])('rejects %s', (_, change, message) => {
    expect(broken(change)).toThrow(GrammarError)
    expect(broken(change)).toThrow(message)
  })
})

describe('the order of agents', () => {
  const web = builtinGrammars.get('web')!
  it('reports what was expected, once per violation', () => {
    const { violations } = validate(web, [
      'think',
      'plan',
      'web_search',
      'observation',
      'think',
      'suggested_answer',
      'think',
      'answer',
    ])
    expect(violations.map(({ index, expected }) => ({ index, expected }))).toEqual([
      { index: 2, expected: ['think'] },
      { index: 7, expected: ['double_check'] },
    ])
  })

  it('reports a missing answer', () => {
    expect(validate(web, []).violations[0]!.message).toContain('ends without <answer>')
  })
})

describe('prompts', () => {
  it.each([...builtinGrammars.values()])(
    'of $name mention every tag and keep the question separate',
    (grammar) => {
      const prompt = systemPrompt(grammar)
      for (const agent of grammar.agents.values()) expect(prompt).toContain(`<${agent.tag}>`)
      expect(buildPrompt(grammar, 'Who?').map((message) => message.role)).toEqual(['system', 'user'])
    },
  )
})

it('does not render an agent that the grammar does not have', () => {
  expect(() => render(builtinGrammars.get('math')!, [{ agent: 'web_search', text: 'x' }])).toThrow(
    'has no agent',
  )
})
