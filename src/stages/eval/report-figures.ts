import type { EvalReport } from '../../schema/index.ts'

/** What a run's manifest keeps of a report. */
export function reportFigures({ solvers, items }: EvalReport): Record<string, number> {
  return {
    tasks: items.length,
    solvers: solvers.length,
    ...Object.fromEntries(
      solvers.flatMap(({ name, accuracy, tokens }) => [
        [`${name}: right`, accuracy.strict.value],
        [`${name}: tokens`, tokens.once.value],
      ]),
    ),
  }
}
