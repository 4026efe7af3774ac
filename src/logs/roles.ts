import type { Contribution } from '../schema/index.ts'

/** What agents with such names usually do. `distill.map` takes precedence. */
const roles: readonly (readonly [RegExp, Contribution])[] = [
  [/plan/i, 'plan'],
  [/critic|review|verif|reflect|check|validat|evaluat/i, 'reflection'],
]

/** What an agent contributes, judging by its name; undefined if the name does not say. */
export function contributionOf(agent: string): Contribution | undefined {
  return roles.find(([pattern]) => pattern.test(agent))?.[1]
}
