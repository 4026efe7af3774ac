import { type Choice, streamTokens } from '../../agent/index.ts'
import { EngineError } from '../../base/errors/index.ts'
import type { Grammar } from '../../language/grammar/index.ts'
import { type EvalTokens, type Rollout, type Span, streamText } from '../../schema/index.ts'

/** A question with what the model made of it. */
export interface Solved {
  question: string
  /** Undefined if the model gave none; `stop` says why. */
  answer: string | undefined
  /** The chain that led to it, as text and as the turns of its agents. */
  chain: string
  spans: Span[]
  calls: Rollout['calls']
  stop: Rollout['stop']
  /** Of all chains: each token once, and as billed by servers that charge every request for its whole context. */
  tokens: EvalTokens & { requests: number }
  /** How one of several answers was picked. */
  pick: Choice | undefined
  /** All chains, as records. */
  rollouts: Rollout[]
  model: string
  grammar: string
  seed: number
  seconds: number
}

interface Found {
  question: string
  model: string
  grammar: Grammar
  rollouts: Rollout[]
  choice: Choice | undefined
  seconds: number
  seed: number
}

export function solvedBy({ question, model, grammar, rollouts, choice, seconds, seed }: Found): Solved {
  const chosen = choice === undefined ? 0 : choice.chosen
  const shown = rollouts[chosen ?? 0]!
  return {
    question,
    answer: chosen === undefined ? undefined : shown.answer,
    chain: streamText(shown),
    spans: shown.spans,
    calls: shown.calls,
    stop: shown.stop,
    tokens: tokensOf(rollouts),
    pick: choice,
    rollouts,
    model,
    grammar: grammar.name,
    seed,
    seconds,
  }
}

function tokensOf(rollouts: readonly Rollout[]): Solved['tokens'] {
  const [first, ...others] = rollouts.map(streamTokens)
  const sum = { ...first! }
  for (const tokens of others)
    for (const [name, count] of Object.entries(tokens)) sum[name as keyof typeof sum] += count
  return sum
}

/** A model that was never heard has not failed to find the answer. */
export function refuseSilence({ rollouts }: Pick<Solved, 'rollouts'>): void {
  if (!rollouts.every(({ stop }) => stop === 'failed')) return
  throw new EngineError(`the engine failed: ${rollouts[0]!.failure?.message}`, {
    fix: 'Run `coa doctor` and `coa engine contract --model FOLDER` to find out why.',
  })
}
