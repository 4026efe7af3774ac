import type { Command } from 'commander'
import pc from 'picocolors'
import { nearestName, UsageError } from '../../base/errors/index.ts'
import type { Stream, Trajectory, TrajectoryEvent } from '../../schema/index.ts'
import type { ExplainedRow, Explanation } from '../../stages/distill/index.ts'
import { openRun, type Run } from '../../store/index.ts'
import { sideBySide, wrapText } from '../columns.ts'
import { findRun } from '../find-run.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { emit, mark } from '../output.ts'
import { paintKind } from '../paint.ts'

interface ExplainOptions extends GlobalOptions {
  full?: boolean
}

const WIDTH = 100
const LEFT = 46
/** What remains beside the left column and the separator. */
const RIGHT = WIDTH - LEFT - 3
const SHORT = 6

export function registerDistillExplain(parent: Command): void {
  parent
    .command('explain')
    .argument('<run>', 'id or path of a run, or "latest"')
    .argument('<id>', 'id of a trajectory, or of the sequence distilled from it')
    .description(
      "show a team's trajectory next to the sequence distilled from it, and why parts were dropped",
    )
    .option('--full', 'do not shorten long texts')
    .addHelpText('after', '\nExample:\n  $ coa distill explain latest math-1-careful --full | less -R')
    .action(async (name: string, id: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ExplainOptions>()
      const { explain } = await import('../../stages/distill/index.ts')
      using run = openRun(findRun(settings(options).config.project.runs, name, 'trajectories'))
      const { trajectory, sequence } = await find(run, id)
      const explanation = explain(trajectory, sequence)
      emit(options, { trajectory: trajectory.id, sequence: sequence.id, ...explanation }, () =>
        describe(trajectory, sequence, explanation, options.full === true),
      )
    })
}

async function find(run: Run, id: string): Promise<{ trajectory: Trajectory; sequence: Stream }> {
  const { sequenceId } = await import('../../stages/distill/index.ts')
  const sequence = run.get('sequence', id) ?? run.get('sequence', sequenceId(id))
  const trajectory = run.get('trajectory', sequence?.provenance?.trajectoryId ?? id)
  if (trajectory === undefined) {
    const known = run.list('trajectory', { limit: 1000 }).map((record) => record.id)
    const nearest = nearestName(id, known) ?? known[0]
    throw new UsageError(`run ${run.id} has no trajectory "${id}"`, {
      fix: nearest === undefined ? 'Record some with `coa teach`.' : `Give an id such as "${nearest}".`,
    })
  }
  if (sequence !== undefined) return { trajectory, sequence }
  throw new UsageError(`"${id}" has not been distilled yet`, { fix: `Run \`coa distill ${run.id}\` first.` })
}

function describe(
  trajectory: Trajectory,
  sequence: Stream,
  { rows, problems }: Explanation,
  full: boolean,
): string {
  const { verdict, team, meta } = trajectory
  const topology = typeof meta['topology'] === 'string' ? `, ${meta['topology']}` : ''
  const outcome = verdict === undefined ? 'not checked' : `${verdict.outcome} (${verdict.checker})`
  const prompts = rows.filter(isPrompt).length
  return [
    pc.bold(trajectory.id),
    pc.dim(wrapText(`${team}${topology}, grammar ${sequence.grammar}, answer ${outcome}`, WIDTH).join('\n')),
    wrapText(trajectory.question, WIDTH).join('\n'),
    '',
    ...rows
      .filter((row) => !isPrompt(row))
      .map((row) => describeRow(row, full ? Number.POSITIVE_INFINITY : SHORT)),
    pc.dim(`${prompts} prompts are not shown`),
    ...(sequence.provenance?.sawGold === true ? [`${mark.open} an agent had seen the gold answer`] : []),
    ...problems.map((problem) => `${mark.bad} ${wrapText(problem, WIDTH - 2).join('\n  ')}`),
  ].join('\n')
}

function isPrompt({ events, span }: ExplainedRow): boolean {
  return span === undefined && events[0]?.type === 'activated'
}

function describeRow({ events, span, notes }: ExplainedRow, lines: number): string {
  const left = events.flatMap((event) => [
    pc.bold(headOf(event)),
    ...shorten(wrapText(textOf(event), LEFT - 2), lines).map((line) => `  ${line}`),
  ])
  const right =
    span === undefined
      ? wrapText(`(${notes.join('; ')})`, RIGHT).map((line) => pc.dim(line))
      : [
          ...shorten(wrapText(span.text.trim(), RIGHT), lines).map((line) => paintKind(span.kind, line)),
          ...notes.flatMap((note) => wrapText(`(${note})`, RIGHT)).map((line) => pc.dim(line)),
        ]
  return `${sideBySide(left, right, LEFT)}\n`
}

function headOf(event: TrajectoryEvent): string {
  const what = event.type === 'wrote' ? (event.said?.as ?? 'wrote') : event.type
  const to = event.type === 'sent' ? ` to ${event.to}` : ''
  return `${event.id} ${event.agent}: ${what}${to}`.slice(0, LEFT)
}

function textOf(event: TrajectoryEvent): string {
  switch (event.type) {
    case 'wrote':
      return [event.thought, event.said?.text].filter(Boolean).join('\n') || event.text
    case 'tool-called':
      return JSON.stringify(event.input)
    case 'tool-answered':
      return event.output
    case 'failed':
      return event.message
    case 'activated':
      return ''
    default:
      return event.text
  }
}

function shorten(lines: string[], most: number): string[] {
  return lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more lines`]
}
