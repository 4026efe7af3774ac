import pc from 'picocolors'
import { percent, whole } from '../base/text/index.ts'
import { table } from './output.ts'

interface Step {
  name: string
  before: number
  after: number
}

interface Reason {
  stage: string
  reason: string
  count: number
  examples: readonly { id: string }[]
}

/** How many of the total remain after each step of a filter. */
export function stageTable(stages: readonly Step[], total: number): string {
  return table([
    ['step', 'left', '', 'dropped', ''].map((head) => pc.dim(head)),
    ...stages.map(({ name, before, after }) => [
      name,
      whole(after),
      percent(after / total),
      before > after ? whole(before - after) : pc.dim('–'),
      bar(after, total),
    ]),
  ])
}

export function reasonTable(reasons: readonly Reason[], total: number): string {
  return table([
    ['dropped', '', 'reason', 'examples'].map((head) => pc.dim(head)),
    ...reasons.map(({ stage, reason, count, examples }) => [
      whole(count),
      percent(count / total),
      `${stage}: ${reason}`,
      pc.dim(examples.map(({ id }) => id).join(', ')),
    ]),
  ])
}

const BAR = 30

export function bar(value: number, most: number, before = most): string {
  const width = (count: number): number => (most === 0 ? 0 : Math.round((BAR * count) / most))
  // A bar must not look empty unless its value is 0.
  const filled = value > 0 ? Math.max(1, width(value)) : 0
  return pc.green('█'.repeat(filled)) + pc.dim('░'.repeat(Math.max(0, width(before) - filled)))
}
