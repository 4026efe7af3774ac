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
  /** The path of report.html. */
  page: string
  seconds: number
}

/** Writes report.html, with the result of the comparison as its headline. */
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

/** The results in the terminal: accuracy and cost of each solver, tokens saved, paths, and what to do next. */
export function describeQuickstart({ run, report, page, seconds }: QuickstartResult): string {
  const { pairs, suites } = report
  const tasks = suites.map(({ suite, tasks: count }) => `${count} ${suite}`).join(' and ')
  return [
    '',
    pc.bold('A team of agents, and the model trained on its work'),
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
      ['Run folder', `${shortPath(run.dir)}  ${pc.dim(`(took ${duration(seconds)})`)}`],
    ]),
    '',
    ...nextLines(nextCommands(run, report)),
  ].join('\n')
}

/** A model that solves nothing saves no tokens. */
function outcomeOf(pair: PairReport, { solvers }: EvalReport): string {
  const solver = solvers.find(({ name }) => name === pair.solver)!
  return solver.counts.correct === 0
    ? `${solver.name} solves none of the tasks, so it saves nothing.`
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

/** What can and cannot be concluded from the table. */
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
          `"${text.name}" is the untrained model: it continues the question as plain text, and the code it writes is run (${percent(text.accuracy.strict.value)}). Training teaches it to do this as a chain of agents.`,
        ]),
    "Each token is counted once, with the student's tokenizer: prompts, generated text and tool output.",
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

/** Without the run's settings, a search would return a different number of hits than in training. */
function solveOptions(run: Run, { domain, meta }: Task): string[] {
  const world = meta['world']
  const found =
    typeof world === 'number' ? ['--world', `${world}`, '--config', shortPath(run.files.config)] : []
  return ['--grammar', domain, ...found]
}

/** A held-out task; preferably one that the last model solved, then one that needs no more options, then a short one. */
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
