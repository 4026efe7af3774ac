import pc from 'picocolors'
import { whole } from '../base/text/index.ts'
import { mark, table } from './output.ts'
import { sanitize } from './sanitize.ts'

const MOST_FINDINGS = 20

interface Found {
  count: number
  examples: readonly string[]
}

/** A text of a run on one short line. */
const shortened = (text: string): string => pc.dim(sanitize(text.replace(/\s+/g, ' ').trim().slice(0, 60)))

/** An id or a place as a whole. */
export const named = (name: string): string => pc.dim(sanitize(name))

/**
 * A table of findings below an empty line, each with its count, what `cells` says of it, and its examples below each other. Nothing
 * if there are none.
 */
export function findingLines<T extends Found>(
  [what, ...heads]: readonly string[],
  found: readonly T[],
  cells: (finding: T) => readonly string[],
  show: (example: string) => string = shortened,
): string[] {
  if (found.length === 0) return []
  const more = found.length - MOST_FINDINGS
  const rows = found.slice(0, MOST_FINDINGS).flatMap((finding) => {
    const own = [whole(finding.count), ...cells(finding).map(sanitize)]
    const [first = '', ...others] = finding.examples.map(show)
    return [[...own, first], ...others.map((example) => [...own.map(() => ''), example])]
  })
  return [
    '',
    table([[what ?? '', ...heads].map((head) => pc.dim(head)), ...rows]),
    ...(more > 0 ? [pc.dim(`and ${whole(more)} more; --json has all`)] : []),
  ]
}

/** A warning about text that looks like tool output; empty if there is none. */
export function toolLikeLines(found: readonly (Found & { kind: string })[]): string[] {
  if (found.length === 0) return []
  const [, ...lines] = findingLines(['times', 'looks like', 'examples'], found, ({ kind }) => [kind])
  return [
    '',
    `${mark.open} agents wrote text that looks like tool output; a model trained on it learns to make up results`,
    ...lines,
  ]
}
