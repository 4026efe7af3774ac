import pc from 'picocolors'
import { whole } from '../base/text/index.ts'
import { mark, table } from './output.ts'
import { sanitize } from './sanitize.ts'

/** A text of a run on one short line. */
export const shortened = (text: string): string =>
  pc.dim(sanitize(text.replace(/\s+/g, ' ').trim().slice(0, 60)))

/** A warning about text that looks like tool output, with up to three examples of each kind; empty if there is none. */
export function toolLikeLines(
  found: readonly { kind: string; count: number; examples: string[] }[],
): string[] {
  if (found.length === 0) return []
  const rows = found.flatMap(({ kind, count, examples }) =>
    examples.map((example, index) => [
      index === 0 ? whole(count) : '',
      index === 0 ? kind : '',
      shortened(example),
    ]),
  )
  return [
    `${mark.open} agents wrote text that looks like tool output; a model trained on it learns to make up results`,
    table([['times', 'looks like', 'example'].map((head) => pc.dim(head)), ...rows]),
    '',
  ]
}
