import { join } from 'node:path'
import pc from 'picocolors'
import { percent, whole } from '../base/text/index.ts'
import { comparisonOf, writeReport } from '../pipeline/report/index.ts'
import type { EvalReport, PairReport, Task } from '../schema/index.ts'
import { headline } from '../stages/eval/index.ts'
import type { Run } from '../store/index.ts'
import { nextLines, shortPath } from './next.ts'
import { mark, table } from './output.ts'

export interface QuickstartResult {
  run: Run
  report: EvalReport
  /** Where the page lies. */
  page: string
  seconds: number
}

/** Writes the page of the run, with what the comparison comes down to at its head. */
export function writePage(run: Run, report: EvalReport): string {
  const comparison = comparisonOf(report)
  const last = report.pairs.at(-1)
  return writeReport(
    run,
    comparison === undefined || last === undefined
      ? {}
      : { comparison: { ...comparison, headline: outcomeOf(last, report) } },
  )
}

/** What came of it: who solved how much at what price, what was saved, where it lies, and what to do next. */
export function describeQuickstart({ run, report, page, seconds }: QuickstartResult): string {
  const { pairs, suites } = report
  const tasks = suites.map(({ suite, tasks: count }) => `${count} ${suite}`).join(' and ')
  return [
    '',
    pc.bold('A team of agents, and the one model that learned from it'),
    pc.dim(`${tasks} tasks, built from templates that appear in no training data`),
    '',
    solverTable(report),
    '',
    ...pairs
      .filter(({ solver }) => !solver.startsWith('base'))
      .map((pair) => `${pair.isEqualOrBetter ? mark.good : mark.open} ${outcomeOf(pair, report)}`),
    '',
    pc.dim(whatItShows(report)),
    '',
    table([
      ['Report', shortPath(page)],
      [
        'Models',
        `${shortPath(join(run.files.checkpoints, 'sft'))}, ${shortPath(join(run.files.checkpoints, 'rl'))}`,
      ],
      ['All else', `${shortPath(run.dir)}  ${pc.dim(`${duration(seconds)} of work just now`)}`],
    ]),
    '',
    ...nextLines(nextCommands(run, report)),
  ].join('\n')
}

/** Tokens of a model that solves nothing are not saved. */
function outcomeOf(pair: PairReport, { solvers }: EvalReport): string {
  const solver = solvers.find(({ name }) => name === pair.solver)!
  return solver.counts.correct === 0
    ? `${solver.name} solves none of the tasks, so there is no saving to speak of.`
    : headline(pair)
}

function solverTable({ solvers }: EvalReport): string {
  return table([
    ['', 'accuracy', '95% interval', 'tokens per task', 'per solved task', 'tool calls', 'seconds'].map(
      (head) => pc.dim(head),
    ),
    ...solvers.map(({ name, accuracy: { strict }, tokens, tokensPerSuccess, calls, ms }) => [
      pc.bold(name),
      percent(strict.value),
      pc.dim(`${percent(strict.low)} to ${percent(strict.high)}`),
      whole(tokens.once.value),
      tokensPerSuccess.once === null ? '–' : whole(tokensPerSuccess.once.value),
      calls.value.toFixed(1),
      (ms.value / 1000).toFixed(1),
    ]),
  ])
}

/** What a reader may conclude from the table, and what not. */
function whatItShows({ solvers }: EvalReport): string {
  const text = solvers.find(({ kind }) => kind === 'text')
  return [
    ...(solvers[0]!.kind === 'scripted team'
      ? [
          'This run exercises the whole pipeline; it is not evidence about teams of language models. The team is a script that uses real tools and knows how each task was generated.',
        ]
      : []),
    ...(text === undefined
      ? []
      : [
          `"${text.name}" is the untrained model continuing the question as plain text while its programs are run (${percent(text.accuracy.strict.value)}): what training adds is doing this as a chain of agents.`,
        ]),
    "Each token is counted once, with the student's tokenizer: prompts, what was written, and what tools returned.",
  ].join(' ')
}

function nextCommands(run: Run, report: EvalReport): string[][] {
  const task = questionToTry(run, report)
  const model = shortPath(join(run.files.checkpoints, 'rl'))
  return [
    ...(task === undefined
      ? []
      : [['solve', task.question, ...solveOptions(run, task), '--temperature', '0', '--model', model]]),
    ['run', 'report', run.id],
    ['init', 'my-agents'],
  ]
}

/** A search shows as many hits as in training only with the settings of the run. */
function solveOptions(run: Run, { domain, meta }: Task): string[] {
  const world = meta['world']
  const found =
    typeof world === 'number' ? ['--world', `${world}`, '--config', shortPath(run.files.config)] : []
  return ['--grammar', domain, ...found]
}

/** A held-out task, rather one that the last model solved, rather one that needs no further options, rather a short one. */
function questionToTry(run: Run, { items, solvers }: EvalReport): Task | undefined {
  const last = solvers.at(-1)!.name
  const rank = ({ question, meta }: Task, outcome = ''): number =>
    (outcome.startsWith('c') ? 0 : 100_000) + (meta['world'] === undefined ? 0 : 10_000) + question.length
  return items
    .flatMap(({ taskId, outcomes }) => {
      const task = run.get('task', taskId)
      return task === undefined || task.question.includes('\n')
        ? []
        : [{ task, rank: rank(task, outcomes[last]) }]
    })
    .sort((one, other) => one.rank - other.rank)[0]?.task
}

function duration(seconds: number): string {
  return seconds < 90 ? `${seconds.toFixed(0)} s` : `${(seconds / 60).toFixed(1)} min`
}
