import { redact, UsageError } from '../../base/errors/index.ts'
import type { RecordOf, Trajectory, TrajectoryEvent } from '../../schema/index.ts'

type EventInput = TrajectoryEvent extends infer Each
  ? Each extends TrajectoryEvent
    ? Omit<Each, 'id' | 't'>
    : never
  : never

/** A mistake in the calling program, as opposed to a failure within the run. */
export class NotRecordable extends UsageError {}

/** Records the events of a run in order, each with the event that caused it. */
export class Recorder {
  readonly events: TrajectoryEvent[] = []
  /** The tools that agents were given, for `meta.tools`: distillation declares those that the run does not know. */
  readonly tools = new Map<string, RecordOf<'tool'>>()
  /** The grammar of agents with rules of their own. */
  domain: string | undefined
  readonly #started = performance.now()
  readonly #onEvent: ((event: TrajectoryEvent) => void) | undefined

  constructor(onEvent?: (event: TrajectoryEvent) => void) {
    this.#onEvent = onEvent
  }

  /** Adds an event and returns its id. */
  add(event: EventInput): string {
    const id = `e${this.events.length + 1}`
    const t = Math.round(performance.now() - this.#started)
    const recorded = { ...event, id, t } as TrajectoryEvent
    this.events.push(recorded)
    this.#onEvent?.(recorded)
    return id
  }
}

/**
 * Records a run of your own agents: `work` receives a recorder, adds an event for everything that happens, and returns the
 * answer. A run that throws becomes a trajectory that ends with a failure; only a model or agent that cannot be recorded at all
 * makes this function throw. `onEvent` is called with each event as it is added.
 *
 * @example
 * import { recordRun } from 'chain-of-agents'
 *
 * const head = { id: 'run-1', taskId: 'sum', team: 'mine', question: 'What is 17 + 4?' }
 * const trajectory = await recordRun(head, async (recorder) => {
 *   const asked = recorder.add({ type: 'activated', agent: 'solver', parent: null, messages: [] })
 *   recorder.add({ type: 'answered', agent: 'solver', parent: asked, text: '21' })
 *   return '21'
 * })
 */
export async function recordRun(
  head: Pick<Trajectory, 'id' | 'taskId' | 'team' | 'question'> & Partial<Pick<Trajectory, 'meta'>>,
  work: (recorder: Recorder) => Promise<string | undefined>,
  onEvent?: (event: TrajectoryEvent) => void,
): Promise<Trajectory> {
  const recorder = new Recorder(onEvent)
  let answer: string | undefined
  try {
    answer = await work(recorder)
  } catch (error) {
    if (error instanceof NotRecordable) throw error
    const parent = recorder.events.at(-1)?.id ?? null
    const message = redact(error instanceof Error ? error.message : String(error))
    recorder.add({ type: 'failed', agent: head.team, parent, boundary: boundaryOf(error), message })
  }
  const { id, taskId, team, question, meta = {} } = head
  return {
    v: 1,
    id,
    taskId,
    team,
    question,
    events: recorder.events,
    ...(answer === undefined ? {} : { answer }),
    meta: { ...madeBy(recorder), ...meta },
  }
}

function madeBy({ domain, tools }: Recorder): Trajectory['meta'] {
  return {
    ...(domain === undefined ? {} : { domain }),
    ...(tools.size === 0 ? {} : { tools: [...tools.values()] }),
  }
}

function boundaryOf(error: unknown): string {
  const boundary = (error as { boundary?: unknown }).boundary
  return typeof boundary === 'string' ? boundary : 'team'
}
