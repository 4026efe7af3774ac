import type { Distractor } from './distractors.ts'
import { plain } from './fixed.ts'
import { type Amount, evaluate, type OperationName } from './operations.ts'
import type { Story } from './story.ts'

/** A plausible wrong answer and the mistake that leads to it. */
export interface Slip {
  answer: string
  text: string
}

interface Change {
  text: string
  /** Replaces a given or a step's result. */
  replaced?: { name: string; value: bigint }
  /** The step returns its first input unchanged. */
  skipped?: string
  /** The step uses another operation. */
  swapped?: { name: string; operation: OperationName }
}

const confused: Partial<Record<OperationName, OperationName>> = {
  add: 'subtract',
  subtract: 'add',
  'divide-up': 'divide-down',
  'divide-down': 'divide-up',
  'percent-less': 'percent',
  'percent-more': 'percent-less',
  percent: 'percent-less',
}

/** Recomputes the story with one mistake. Undefined if the result is not a plausible answer. */
function replay(story: Story, change: Change): bigint | undefined {
  const values = new Map<string, bigint>(story.givens.map(({ name, value }) => [name, value]))
  if (change.replaced !== undefined) values.set(change.replaced.name, change.replaced.value)
  let last: bigint | undefined
  for (const { name, operation, inputs } of story.steps) {
    const numbers = inputs.map((input: Amount) => values.get(input.name)!)
    const used = change.swapped?.name === name ? change.swapped.operation : operation
    last = change.skipped === name ? numbers[0] : evaluate(used, numbers)
    if (last === undefined || last <= 0n) return undefined
    values.set(name, last)
  }
  return last
}

/** Close enough to be plausible, which also prevents confusing a percentage with its hundredth. */
const isPlausible = (value: bigint, right: bigint): boolean =>
  value !== right && value * 30n >= right && value <= right * 30n

export function slipsOf(
  story: Story,
  distractors: readonly Distractor[],
  fits: (value: bigint) => boolean,
  format: (value: bigint) => string,
): Slip[] {
  const right = story.steps.at(-1)!.value
  const changes: Change[] = []
  const big = story.givens.filter(({ value }) => value >= 20_000n)
  const used = distractors[0]
  if (used !== undefined && big.length > 0) {
    const { name, text } = story.random.pick(big)
    const reason = `took ${plain(used.value)} from a sentence beside the point where ${text} was meant`
    changes.push({ text: reason, replaced: { name, value: used.value } })
  }
  for (const { name, operation } of story.random.shuffle(story.steps)) {
    changes.push({ text: `left out the step for ${name}`, skipped: name })
    const other = confused[operation]
    if (other !== undefined) {
      changes.push({ text: `took ${other} for ${operation} at ${name}`, swapped: { name, operation: other } })
    }
  }
  const slips: Slip[] = []
  for (const change of changes) {
    const value = replay(story, change)
    if (value === undefined || !fits(value) || !isPlausible(value, right)) continue
    const answer = format(value)
    if (slips.every((slip) => slip.answer !== answer)) slips.push({ answer, text: change.text })
    if (slips.length === 3) return slips
  }
  // Guarantees that every task has a wrong answer.
  slips.push({ answer: format(right + 1000n), text: 'counted one too many' })
  return slips
}
