import pc from 'picocolors'
import { percent, whole } from '../../base/text/index.ts'
import type { Estimate, EvalReport, SolverReport } from '../../schema/index.ts'
import { headline } from '../../stages/eval/index.ts'
import { mark, table } from '../output.ts'
import type { EvalResult } from './eval-run.ts'

/** The report for a terminal: a line per solver, then groups, then comparisons. */
export function describeEval({ report, files, seconds }: EvalResult): string {
  const { solvers, pairs, suites } = report
  return [
    pc.dim(suites.map(({ suite, tasks }) => `${suite} ${tasks}`).join(', ')),
    mainTable(solvers),
    ...(solvers.some(({ attempts }) => attempts > 1) ? ['', scalingTable(solvers)] : []),
    ...(groupTable(report) === '' ? [] : ['', groupTable(report)]),
    '',
    ...pairs.map((pair) => `${pair.isEqualOrBetter ? mark.good : mark.open} ${headline(pair)}`),
    pc.dim(`${seconds.toFixed(1)} s; ${files.page}`),
  ].join('\n')
}

function mainTable(solvers: readonly SolverReport[]): string {
  return table([
    [
      'solver',
      'accuracy',
      '95% interval',
      'of decided',
      'wrong',
      'unanswered',
      'undecided',
      'failed',
      'tokens',
      'billed tokens',
      'per solved task',
      'calls',
      'seconds',
    ].map((head) => pc.dim(head)),
    ...solvers.map(({ name, accuracy, counts, tokens, tokensPerSuccess, calls, ms }) => [
      pc.bold(name),
      percent(accuracy.strict.value),
      pc.dim(within(accuracy.strict)),
      accuracy.decided === null ? '–' : percent(accuracy.decided.value),
      whole(counts.wrong),
      whole(counts.unanswered),
      whole(counts.undecided),
      whole(counts.failed),
      amount(tokens.once),
      amount(tokens.billed),
      tokensPerSuccess.once === null ? '–' : whole(tokensPerSuccess.once.value),
      calls.value.toFixed(1),
      (ms.value / 1000).toFixed(1),
    ]),
  ])
}

function scalingTable(solvers: readonly SolverReport[]): string {
  const ks = [...new Set(solvers.flatMap(({ pass }) => pass.map(({ k }) => k)))].sort((a, b) => a - b)
  return table([
    ['', ...ks.map((k) => `pass@${k}`), 'majority', 'best'].map((head) => pc.dim(head)),
    ...solvers.map(({ name, pass, majority, best }) => [
      name,
      ...ks.map((k) => share(pass.find((one) => one.k === k)?.strict)),
      share(majority),
      best === null ? '–' : `${share(best)} ${pc.dim(best.picker)}`,
    ]),
  ])
}

/** Accuracy by field, for fields with more than one value. */
function groupTable({ solvers }: EvalReport): string {
  const groups = solvers[0]!.by.filter(
    ({ field }) => solvers[0]!.by.filter((other) => other.field === field).length > 1,
  )
  if (groups.length === 0) return ''
  return table([
    ['', 'tasks', ...solvers.map(({ name }) => name)].map((head) => pc.dim(head)),
    ...groups.map(({ field, value, tasks }) => [
      `${field} ${value}`,
      whole(tasks),
      ...solvers.map(({ by }) => share(by.find((one) => one.field === field && one.value === value)?.strict)),
    ]),
  ])
}

const within = ({ low, high }: Estimate): string => `${(100 * low).toFixed(1)}–${(100 * high).toFixed(1)}`
const amount = ({ value, low, high }: Estimate): string =>
  `${whole(value)} ${pc.dim(`${whole(low)}–${whole(high)}`)}`
const share = (estimate: Estimate | null | undefined): string =>
  estimate === null || estimate === undefined ? '–' : `${percent(estimate.value)} ${pc.dim(within(estimate))}`
