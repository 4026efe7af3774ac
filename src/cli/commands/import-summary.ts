import pc from 'picocolors'
import { whole } from '../../base/text/index.ts'
import type { ImportSummary } from '../../stages/capture/index.ts'
import { findingLines, named, toolLikeLines } from '../findings.ts'
import { nextLines } from '../next.ts'
import { mark, table } from '../output.ts'
import { sanitize } from '../sanitize.ts'

const MOST_ROWS = 20

/** What was understood, what was not, and what to do about it. */
export function describeImport(summary: ImportSummary, run: string, dryRun: boolean): string {
  const { figures, formats, agents, tools, leftOut, toolLike, unreadable } = summary
  const { runs = 0 } = figures
  const [map = ''] = rulesOf(unreadable)
  return [
    table(Object.entries(figures).map(([name, count]) => [name, whole(count)])),
    ...rowLines(['format', 'files', 'runs'], formats, ({ format, files, runs }) => [
      format,
      whole(files),
      whole(runs),
    ]),
    ...rowLines(['agent', 'turns', 'calls', 'becomes'], agents, ({ agent, turns, calls, as }) => [
      agent,
      whole(turns),
      whole(calls),
      as,
    ]),
    ...rowLines(['tool', 'calls', 'without result'], tools, ({ tool, calls, unanswered }) => [
      tool,
      whole(calls),
      whole(unanswered),
    ]),
    ...findingLines(['times', 'left out', 'characters', 'examples'], leftOut, ({ what, characters }) => [
      what,
      whole(characters),
    ]),
    ...ruleLines(
      'To read such a field as part of the text next to it, write this to a file and name it with --map:',
      rulesOf(leftOut).map((rule, index) => (index === 0 ? `[rename]\n${rule}` : rule)),
    ),
    ...toolLikeLines(toolLike),
    ...ruleLines(
      'If such an agent only runs tools, leave out its words:',
      rulesOf(toolLike).map((agent) => `coa distill ${run === 'none' ? 'RUN' : run} --map ${agent}=drop`),
    ),
    ...findingLines(['times', 'not understood', 'where'], unreadable, ({ what }) => [what], named),
    ...ruleLines(
      'To read such records, correct this, write it to a file and name it with --map:',
      map === '' ? [] : [map],
    ),
    '',
    `${runs > 0 && unreadable.length === 0 ? mark.good : mark.open} ${whole(runs)} ${runs === 1 ? 'run' : 'runs'}`,
    ...(dryRun ? [pc.dim('dry run: nothing was written')] : nextLines([['distill', run]])),
  ].join('\n')
}

function rowLines<T>(
  heads: readonly string[],
  items: readonly T[],
  row: (item: T) => readonly string[],
): string[] {
  if (items.length === 0) return []
  const more = items.length - MOST_ROWS
  const rows = items.slice(0, MOST_ROWS).map((item) => row(item).map(sanitize))
  return [
    '',
    table([heads.map((head) => pc.dim(head)), ...rows]),
    ...(more > 0 ? [pc.dim(`and ${whole(more)} more; --json has all`)] : []),
  ]
}

const rulesOf = (found: readonly { rule?: string }[]): string[] => [
  ...new Set(found.flatMap(({ rule }) => rule ?? [])),
]

const ruleLines = (what: string, rules: readonly string[]): string[] =>
  rules.length === 0
    ? []
    : ['', what, ...rules.flatMap((rule) => rule.split('\n').map((line) => `  ${sanitize(line)}`.trimEnd()))]
