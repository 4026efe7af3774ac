import type { Trajectory, TrajectoryEvent } from '../../schema/index.ts'

/** A team's run as text for a judge: what was written, called and returned. Prompts are left out; they may have hints. */
export function transcriptOf({ events, answer }: Pick<Trajectory, 'events' | 'answer'>): string {
  const lines = events.flatMap((event) => lineOf(event) ?? [])
  return [...lines, answer === undefined ? 'There is no final answer.' : `Final answer: ${answer}`].join(
    '\n\n',
  )
}

function lineOf(event: TrajectoryEvent): string | undefined {
  switch (event.type) {
    case 'wrote':
      return event.text.trim() === '' ? undefined : `${event.agent}: ${event.text}`
    case 'tool-called': {
      const input = typeof event.input === 'string' ? event.input : JSON.stringify(event.input)
      return `${event.agent} calls ${event.tool}: ${input}`
    }
    case 'tool-answered':
      return `${event.tool} returns: ${event.output}`
    case 'failed':
      return `${event.agent} fails: ${event.message}`
    default:
      return undefined
  }
}
