import { isReact, type Rollout, type Stream, type Trajectory } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'

/** The team and the student at work: on the same task if possible, else on two tasks of the same suite. */
export interface Example {
  suite: string
  team: Trajectory | undefined
  student: Rollout | undefined
  /** The distilled sequence, if there is no rollout yet. */
  learned: Stream | undefined
  isSameTask: boolean
}

const MOST = 3
/** Longer team runs are hard to read on a page. */
const READABLE_EVENTS = 60

/** One example per suite, up to three: correct, not too long, and by the latest weights. */
export function chooseExamples(run: Pick<Run, 'scan' | 'get'>): Example[] {
  const teams = new Map<string, { id: string; taskId: string; rank: number }>()
  const taught = new Set<string>()
  for (const trajectory of run.scan('trajectory')) {
    taught.add(trajectory.taskId)
    const suite = suiteOf(run, trajectory)
    const rank = teamRank(trajectory)
    if (rank > (teams.get(suite)?.rank ?? -1)) {
      const { id, taskId } = trajectory
      teams.set(suite, { id, taskId, rank })
    }
  }
  const students = new Map<string, { id: string; rank: number }>()
  for (const rollout of run.scan('rollout')) {
    const suite = suiteOf(run, rollout)
    const rank = studentRank(rollout) + (taught.has(rollout.taskId) ? 1000 : 0)
    // On ties the later one, which has more training.
    if (rank >= (students.get(suite)?.rank ?? -1)) students.set(suite, { id: rollout.id, rank })
  }
  const suites = [...new Set([...students.keys(), ...teams.keys()])].slice(0, MOST)
  return suites.map((suite) => {
    const student = read(run, 'rollout', students.get(suite)?.id)
    const isSameTask = student !== undefined && taught.has(student.taskId)
    const team = isSameTask ? teamOn(run, student.taskId) : read(run, 'trajectory', teams.get(suite)?.id)
    const learned = student === undefined && team !== undefined ? sequenceOf(run, team.id) : undefined
    return { suite, team, student, learned, isSameTask }
  })
}

function suiteOf(run: Pick<Run, 'get'>, { meta, taskId }: Pick<Trajectory, 'meta' | 'taskId'>): string {
  return typeof meta['suite'] === 'string' ? meta['suite'] : (run.get('task', taskId)?.suite ?? 'tasks')
}

function teamRank({ events, verdict }: Trajectory): number {
  const calls = events.filter(({ type }) => type === 'tool-called').length
  return (
    (verdict?.outcome === 'correct' ? 100 : 0) +
    (calls >= 2 ? 20 : 0) +
    (events.length <= READABLE_EVENTS ? 10 : 0)
  )
}

function studentRank({ verdict, checkpoint, calls, failure }: Rollout): number {
  const stage = /(^|[^a-z])rl([^a-z]|$)/.test(checkpoint)
    ? 20
    : /(^|[^a-z])sft([^a-z]|$)/.test(checkpoint)
      ? 10
      : 0
  return (
    (failure === undefined ? 400 : 0) +
    (verdict?.outcome === 'correct' ? 200 : 0) +
    stage +
    (calls.some(({ outcome }) => outcome === 'ok') ? 5 : 0)
  )
}

function teamOn(run: Pick<Run, 'scan'>, taskId: string): Trajectory | undefined {
  let best: Trajectory | undefined
  for (const trajectory of run.scan('trajectory'))
    if (trajectory.taskId === taskId && (best === undefined || teamRank(trajectory) > teamRank(best)))
      best = trajectory
  return best
}

function sequenceOf(run: Pick<Run, 'scan'>, trajectoryId: string): Stream | undefined {
  for (const sequence of run.scan('sequence'))
    if (sequence.provenance?.trajectoryId === trajectoryId && !isReact(sequence)) return sequence
  return undefined
}

function read<K extends 'rollout' | 'trajectory'>(
  run: Pick<Run, 'get'>,
  kind: K,
  id: string | undefined,
): ReturnType<typeof run.get<K>> {
  return id === undefined ? undefined : run.get(kind, id)
}
