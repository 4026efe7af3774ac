import { Automaton } from './automaton.ts'
import type { Grammar } from './grammar.ts'

export interface Violation {
  /** Index of the offending step; the number of steps if the chain ends too early. */
  index: number
  found: string | null
  expected: string[]
  message: string
}

export interface Validation {
  ok: boolean
  violations: Violation[]
}

/** Checks a sequence of agents against the grammar's order. */
export function validate(grammar: Grammar, agents: Iterable<string>): Validation {
  const automaton = new Automaton(grammar)
  const violations: Violation[] = []
  let index = 0
  for (const found of agents) {
    const expected = automaton.allowed()
    if (!automaton.step(found)) {
      violations.push({
        index,
        found,
        expected,
        message: `<${tagOf(grammar, found)}> is not allowed here; ${expectation(grammar, expected)}`,
      })
    }
    index++
  }
  if (!automaton.ended) {
    const expected = automaton.allowed()
    violations.push({
      index,
      found: null,
      expected,
      message: `the chain ends without <${grammar.answer.tag}>; ${expectation(grammar, expected)}`,
    })
  }
  return { ok: violations.length === 0, violations }
}

function tagOf(grammar: Grammar, name: string): string {
  return grammar.agents.get(name)?.tag ?? name
}

function expectation(grammar: Grammar, expected: string[]): string {
  if (expected.length === 0) return `the chain has ended with <${grammar.answer.tag}>`
  return `expected ${expected.map((name) => `<${tagOf(grammar, name)}>`).join(' or ')}`
}
