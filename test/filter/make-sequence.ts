import {
  buildPrompt,
  builtinGrammars,
  parseChain,
  render,
  type Step,
  spansOf,
} from '../../src/language/grammar/index.ts'
import type { Stream, Verdict } from '../../src/schema/index.ts'

export interface Shape {
  id?: string
  taskId?: string
  grammar?: 'web' | 'math' | 'code' | 'multihop'
  suite?: string
  question?: string
  /** Inputs of the tool calls, one call each. */
  calls?: string[]
  /** The text of the reflection; undefined for none, if the grammar allows it. */
  reflection?: string
  /** Texts of the checks of suggested answers, in order; web only. */
  checks?: string[]
  outcome?: Verdict['outcome'] | 'unchecked'
  origin?: string
  sawGold?: boolean
  /** How often the checker rejected a suggested answer. */
  verdicts?: number
  thought?: string
}

/** A well-formed sequence of a given shape, made as the stages make it: rendered, parsed, split into spans. */
export function makeSequence(shape: Shape = {}): Stream {
  const name = shape.grammar ?? 'web'
  const grammar = builtinGrammars.get(name)!
  const question =
    shape.question ?? 'In which year was the harbour light of Varnholm first lit with electricity?'
  const chain = parseChain(grammar, render(grammar, name === 'web' ? webSteps(shape) : codeSteps(shape)), {
    strict: true,
  })
  const outcome = shape.outcome ?? 'correct'
  return {
    v: 2,
    id: shape.id ?? 'one',
    ...(shape.taskId === undefined ? {} : { taskId: shape.taskId }),
    grammar: name,
    prompt: buildPrompt(grammar, question),
    spans: spansOf(chain),
    provenance: { origin: shape.origin ?? 'distill', sawGold: shape.sawGold ?? false },
    ...(outcome === 'unchecked' ? {} : { verdict: { outcome, checker: 'exact', evidence: 'compared' } }),
    meta: {
      suite: shape.suite ?? 'search',
      ...(shape.verdicts === undefined ? {} : { verdicts: shape.verdicts }),
    },
  }
}

export const fiveCalls = ['harbour', 'lighthouse', 'keeper', 'lamp', 'year']

function webSteps(shape: Shape): Step[] {
  const thought = shape.thought ?? 'Go on.'
  const think = { agent: 'think', text: thought }
  const calls = shape.calls ?? fiveCalls
  const steps: Step[] = [think, { agent: 'plan', text: 'Search, then answer.' }]
  for (const text of calls) {
    steps.push(think, { agent: 'web_search', text }, { agent: 'observation', text: `Found ${text}.` })
  }
  if (shape.reflection !== undefined) steps.push(think, { agent: 'reflection', text: shape.reflection })
  for (const [index, text] of (shape.checks ?? ['Score: 4']).entries()) {
    // After a low score the work continues with a new plan.
    if (index > 0) steps.push(think, { agent: 'plan', text: 'Again.' })
    steps.push(think, { agent: 'suggested_answer', text: '1923' }, think, { agent: 'double_check', text })
  }
  return [...steps, think, { agent: 'answer', text: '1923' }]
}

function codeSteps(shape: Shape): Step[] {
  const think = { agent: 'think', text: shape.thought ?? 'Compute.' }
  const steps: Step[] = [{ agent: 'plan', text: 'Compute, then answer.' }]
  for (const code of shape.calls ?? ['print(1)', 'print(2)', 'print(3)', 'print(4)', 'print(5)']) {
    steps.push(
      think,
      { agent: 'code', text: `\n\`\`\`py\n${code}\n\`\`\`\n` },
      { agent: 'observation', text: '1' },
    )
    steps.push({ agent: 'reflection', text: shape.reflection ?? '' })
  }
  return [...steps, think, { agent: 'answer', text: '\\boxed{1}' }]
}
