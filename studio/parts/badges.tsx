import type { Estimate } from '../../src/schema/index.ts'
import type {
  Figure,
  JobState,
  MarkView,
  Outcome,
  RunState,
  StageStatus,
  Stop,
} from '../../src/studio/api.ts'
import { duration, percent, short, whole } from './format.ts'

const outcomes: Record<Outcome, string> = {
  correct: '✓ correct',
  wrong: '✗ wrong',
  undecided: '○ undecided',
  unchecked: '– not checked',
}

export function OutcomeBadge({ outcome }: { outcome: Outcome }): React.ReactNode {
  return <span className={`badge ${outcome}`}>{outcomes[outcome]}</span>
}

const states: Record<RunState | StageStatus | JobState, string> = {
  running: '▸ running',
  stopping: '▸ stopping',
  idle: '✓ done',
  done: '✓ done',
  failed: '✗ failed',
  interrupted: '○ interrupted',
  damaged: '✗ damaged',
}

export function StateBadge({ state }: { state: RunState | StageStatus | JobState }): React.ReactNode {
  return <span className={`badge state ${state}`}>{states[state]}</span>
}

export const stopWords: Record<Stop, string> = {
  answer: 'answered',
  turns: 'too many tool calls',
  tokens: 'too many tokens',
  time: 'out of time',
  repetition: 'the same call again',
  context: 'the context was full',
  end: 'ended without an answer',
  failed: 'something outside the model failed',
}

export function MarkBadge({ mark }: { mark: MarkView | undefined }): React.ReactNode {
  if (mark === undefined) return null
  return <span className={`badge ${mark.rating}`}>{mark.rating === 'good' ? '▲ good' : '▼ bad'}</span>
}

export function figureText({ value, unit }: Pick<Figure, 'value' | 'unit'>): string {
  if (unit === 'share') return percent(value, 1)
  if (unit === 'seconds') return duration(value)
  if (unit === 'tokens') return `${whole(value)} tokens`
  return short(value)
}

/** A value between 0 and 1 with its interval, as numbers and as a line. */
export function Interval({ estimate }: { estimate: Estimate }): React.ReactNode {
  const { value, low, high } = estimate
  return (
    <span className="interval">
      <b>{percent(value, 1)}</b> <small>{`${percent(low)}–${percent(high)}`}</small>
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <path className="scale" d="M0 5H100" />
        <path className="range" d={`M${100 * low} 5H${100 * high}`} />
        <path className="middle" d={`M${100 * value} 0V10`} />
      </svg>
    </span>
  )
}
