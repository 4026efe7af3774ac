import pc from 'picocolors'
import { whole } from '../../base/text/index.ts'
import type { ImportSummary } from '../../stages/capture/index.ts'
import { nextLines } from '../next.ts'
import { mark, table } from '../output.ts'
import { sanitize } from '../sanitize.ts'
import { shortened, toolLikeLines } from '../tool-like.ts'

const MOST_FINDINGS = 20

/** What was understood, what was not, and what to do about it. */
export function describeImport(summary: ImportSummary, run: string, dryRun: boolean): string {
  const { figures, unreadable } = summary
  const { runs = 0 } = figures
  return [
    table(Object.entries(figures).map(([name, count]) => [name, whole(count)])),
    ...understood(summary),
    ...leftOut(summary),
    ...toolLike(summary),
    ...notUnderstood(summary),
    '',
    `${runs > 0 && unreadable.length === 0 ? mark.good : mark.open} ${whole(runs)} ${runs === 1 ? 'run' : 'runs'}`,
    ...(dryRun ? [pc.dim('dry run: nothing was written')] : nextLines([['distill', run]])),
  ].join('\n')
}

/** A table under its heads, with one or more rows for each finding; nothing if there is none. */
function section(heads: readonly string[], findings: readonly (readonly (readonly string[])[])[]): string[] {
  if (findings.length === 0) return []
  const more = findings.length - MOST_FINDINGS
  return [
    '',
    table([heads.map((head) => pc.dim(head)), ...findings.slice(0, MOST_FINDINGS).flat()]),
    ...(more > 0 ? [pc.dim(`and ${whole(more)} more; --json has all`)] : []),
  ]
}

const understood = ({ formats, agents, tools }: ImportSummary): string[] => [
  ...section(
    ['format', 'files', 'runs'],
    formats.map(({ format, files, runs }) => [[format, whole(files), whole(runs)]]),
  ),
  ...section(
    ['agent', 'turns', 'calls', 'becomes'],
    agents.map(({ agent, turns, calls, as }) => [[sanitize(agent), whole(turns), whole(calls), as]]),
  ),
  ...section(
    ['tool', 'calls', 'without result'],
    tools.map(({ tool, calls, unanswered }) => [[sanitize(tool), whole(calls), whole(unanswered)]]),
  ),
]

/** Each finding with its examples below each other. */
function withExamples(
  { examples }: { examples: readonly string[] },
  cells: readonly string[],
  show: (example: string) => string,
): string[][] {
  const [first = '', ...others] = examples.map(show)
  return [[...cells, first], ...others.map((example) => [...cells.map(() => ''), example])]
}

function leftOut({ leftOut: found }: ImportSummary): string[] {
  const rules = found.flatMap(({ rule }) => rule ?? [])
  const rows = found.map((one) =>
    withExamples(one, [sanitize(one.what), whole(one.count), whole(one.characters)], shortened),
  )
  return [
    ...section(['left out', 'times', 'characters', 'examples'], rows),
    ...rule(
      'To read such a field as part of the text next to it, write this to a file and name it with --map:',
      [...(rules.length === 0 ? [] : ['[rename]', ...rules])],
    ),
  ]
}

function toolLike({ toolLike: found }: ImportSummary): string[] {
  const agents = [...new Set(found.flatMap(({ rule }) => rule ?? []))]
  return [
    ...(found.length === 0 ? [] : ['', ...toolLikeLines(found).slice(0, -1)]),
    ...rule(
      'If such an agent only runs tools, leave out its words:',
      agents.map((one) => `coa distill --map ${one}`),
    ),
  ]
}

function notUnderstood({ unreadable }: ImportSummary): string[] {
  const [map] = unreadable.flatMap(({ rule }) => rule ?? [])
  const rows = unreadable.map((one) => withExamples(one, [sanitize(one.what), whole(one.count)], sanitize))
  return [
    ...section(['not understood', 'times', 'where'], rows),
    ...rule(
      'To read such records, correct this, write it to a file and name it with --map:',
      map?.split('\n') ?? [],
    ),
  ]
}

const rule = (what: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', what, ...lines.map((line) => (line === '' ? '' : `  ${sanitize(line)}`))]
