import { markdownTable, percent } from '../../base/text/index.ts'
import type { EvalReport, SolverReport } from '../../schema/index.ts'
import { amount, amountWithin, headline, money, notes, percentWithin, probability } from './report-text.ts'

/** The report as Markdown tables. */
export function describeReport(report: EvalReport): string {
  const { solvers, suites, pairs } = report
  const parts = [
    '# Evaluation',
    suites.map(({ suite, tasks }) => `${suite}: ${amount(tasks)} tasks`).join(', '),
    ...pairs.map((pair) => `**${headline(pair)}**`),
    '## Accuracy',
    accuracyTable(solvers),
    ...(solvers.some(({ attempts }) => attempts > 1) ? ['## Several attempts', scalingTable(solvers)] : []),
    '## Tokens, calls, time and cost',
    effortTable(solvers),
    ...(pairs.length === 0 ? [] : ['## Paired comparison', pairTable(report)]),
    '## By suite, level and hops',
    groupTable(solvers),
    '## Notes',
    notes(report)
      .map((note) => `- ${note}`)
      .join('\n'),
  ]
  return `${parts.join('\n\n')}\n`
}

function accuracyTable(solvers: readonly SolverReport[]): string {
  return markdownTable(
    [
      'solver',
      'kind',
      'accuracy (all)',
      'accuracy (decided)',
      'correct',
      'wrong',
      'unanswered',
      'undecided',
      'failed',
      'well formed',
    ],
    solvers.map(({ name, kind, accuracy, counts, wellFormed }) => [
      name,
      kind,
      percentWithin(accuracy.strict),
      percentWithin(accuracy.decided),
      ...(['correct', 'wrong', 'unanswered', 'undecided', 'failed'] as const).map((key) =>
        amount(counts[key]),
      ),
      percent(wellFormed),
    ]),
  )
}

function scalingTable(solvers: readonly SolverReport[]): string {
  const ks = [...new Set(solvers.flatMap(({ pass }) => pass.map(({ k }) => k)))].sort((a, b) => a - b)
  return markdownTable(
    ['solver', ...ks.map((k) => `pass@${k}`), 'avg', 'majority', 'best'],
    solvers.map(({ name, pass, attempts, accuracy, majority, best }) => [
      name,
      ...ks.map((k) => percentWithin(pass.find((one) => one.k === k)?.strict ?? null)),
      `avg@${attempts} ${percent(accuracy.strict.value)}`,
      percentWithin(majority),
      best === null ? '–' : `${percentWithin(best)} (${best.picker})`,
    ]),
  )
}

function effortTable(solvers: readonly SolverReport[]): string {
  return markdownTable(
    [
      'solver',
      'tokens once',
      'tokens billed',
      'prompt',
      'completion',
      'tool',
      'once per correct answer',
      'billed per correct answer',
      'calls',
      'requests',
      'seconds',
      'cost billed',
      'cost once',
    ],
    solvers.map(({ name, tokens, tokensPerSuccess, calls, requests, ms, cost }) => [
      name,
      amountWithin(tokens.once),
      amountWithin(tokens.billed),
      amount(tokens.prompt.value),
      amount(tokens.completion.value),
      amount(tokens.tool.value),
      amountWithin(tokensPerSuccess.once),
      amountWithin(tokensPerSuccess.billed),
      amount(calls.value),
      amount(requests.value),
      amount(ms.value / 1000),
      money(cost?.billed ?? null),
      money(cost?.once ?? null),
    ]),
  )
}

function pairTable({ pairs }: EvalReport): string {
  return markdownTable(
    [
      'pair',
      'both',
      'only first',
      'only second',
      'neither',
      'left out',
      'McNemar',
      'saved once',
      'saved billed',
      'saved once per correct answer',
      'saved billed per correct answer',
    ],
    pairs.map(({ reference, solver, outcomes, p, saved }) => [
      `${reference}, ${solver}`,
      ...(['both', 'onlyReference', 'onlySolver', 'neither', 'leftOut'] as const).map((key) =>
        amount(outcomes[key]),
      ),
      probability(p),
      ...(['once', 'billed', 'oncePerSuccess', 'billedPerSuccess'] as const).map((key) =>
        percentWithin(saved[key]),
      ),
    ]),
  )
}

function groupTable(solvers: readonly SolverReport[]): string {
  return markdownTable(
    ['', 'tasks', ...solvers.map(({ name }) => name)],
    groupsOf(solvers).map(({ field, value, tasks, shares }) => [
      `${field} ${value}`,
      amount(tasks),
      ...shares.map((share) => percentWithin(share)),
    ]),
  )
}

/** All groups, with each solver's accuracy. */
export function groupsOf(solvers: readonly SolverReport[]) {
  const groups = new Map(
    solvers.flatMap(({ by }) => by.map((group) => [`${group.field} ${group.value}`, group] as const)),
  )
  const order = ['suite', 'level', 'hops']
  return [...groups.values()]
    .sort((one, other) => order.indexOf(one.field) - order.indexOf(other.field))
    .map(({ field, value, tasks }) => ({
      field,
      value,
      tasks,
      shares: solvers.map(
        ({ by }) => by.find((group) => group.field === field && group.value === value)?.strict ?? null,
      ),
    }))
}
