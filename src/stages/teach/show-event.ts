import type { Spotted } from '../../base/progress/index.ts'
import type { TrajectoryEvent } from '../../schema/index.ts'

/** What an agent wrote, with its name, and what a tool answered. The rest of a run is who told whom. */
export function showEvent(event: TrajectoryEvent, { text }: Spotted): void {
  if (event.type === 'wrote') text(`${event.agent}: ${event.text.trim()}\n`, 'model')
  if (event.type === 'tool-answered') text(`${event.output.trim()}\n`, 'tool')
}
