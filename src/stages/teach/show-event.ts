import type { Spotted } from '../../base/progress/index.ts'
import type { TrajectoryEvent } from '../../schema/index.ts'

/** Shows agents' messages and tool output; other events only record who passed what to whom. */
export function showEvent(event: TrajectoryEvent, { text }: Spotted): void {
  if (event.type === 'wrote') text(`${event.agent}: ${event.text.trim()}\n`, 'model')
  if (event.type === 'tool-answered') text(`${event.output.trim()}\n`, 'tool')
}
