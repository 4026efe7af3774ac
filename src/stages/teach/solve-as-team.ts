import { answerKey } from '../../agent/index.ts'
import type { Spotlight, Spotted } from '../../base/progress/index.ts'
import type { Grammar } from '../../language/grammar/index.ts'
import { type CheckContext, checkAnswer } from '../../reward/index.ts'
import type { Message, Task, Trajectory, TrajectoryEvent } from '../../schema/index.ts'
import type { CallOptions, Tool } from '../../world/tools/index.ts'
import type { MindMaker, ReplySettings, TeamLimits, Topology, TopologySettings } from './contract.ts'
import { type Recorder, recordRun } from './recorder.ts'
import { RecordedRun, type Totals } from './team-run.ts'
import { workersFor } from './workers.ts'

export interface Team {
  name: string
  topology: Topology
  minds: MindMaker
  limits: TeamLimits
  prices: { prompt: number; completion: number }
  /** Number of tool calls between reflections, unless the grammar requires one after every call. */
  reflectEvery: number
  replies?: ReplySettings
  /** Frees the models of the team. */
  close?: () => Promise<void>
}

export interface Surroundings {
  grammar: Grammar
  tools: readonly Tool[]
  countTokens: (messages: readonly Message[], written: string) => { prompt: number; completion: number }
  calling?: Omit<CallOptions, 'signal' | 'question'>
  check: CheckContext
  signal: AbortSignal
  /** What only teaching may give a team; an evaluation would measure something else. */
  aids?: Aids
  /** Shows what the agents write. */
  spotlight?: Spotlight | undefined
}

/** See `teach.hints` and `teach.verdicts`. */
export interface Aids {
  hint?: string | undefined
  verdicts?: number
}

/** Runs a team on one task, up to the checked answer. Failures are part of the trajectory; only an abort throws. */
export async function solveAsTeam(
  task: Task,
  team: Team,
  seed: number,
  around: Surroundings,
): Promise<Trajectory> {
  const { grammar, signal } = around
  const { topology } = team
  const tools = new Map(around.tools.map((tool) => [tool.name, tool]))
  const workers = workersFor(grammar, new Set(tools.keys()), topology.crews)
  const check = { ...around.check, question: task.question, signal }
  // An undecided answer is not rejected.
  const isWrong = async (answer: string): Promise<boolean> =>
    (await checkAnswer(task.gold, answer, check)).outcome === 'wrong'
  let totals: Totals | undefined
  let exhausted: string | undefined
  const started = performance.now()
  const head = {
    id: `${task.id}@${team.name}-${seed}`,
    taskId: task.id,
    team: team.name,
    question: task.question,
  }
  const spotted = around.spotlight?.begin(task.question)
  const work = async (recorder: Recorder): Promise<string | undefined> => {
    const mindOf = team.minds(task, seed)
    // A script plans its calls in advance, so it would not know what to write if it were asked again.
    const isModel = workers.some((worker) => mindOf(worker).isModel === true)
    const run = new RecordedRun({
      question: task.question,
      grammar,
      topology,
      workers,
      tools,
      mindOf,
      countTokens: around.countTokens,
      limits: team.limits,
      prices: team.prices,
      calling: around.calling ?? {},
      settings: {
        ...settingsFor(grammar, team.reflectEvery),
        workerSteps: isModel ? (team.replies?.workerSteps ?? 2) : 1,
        workFirst: isModel,
        recheck: isModel ? (team.replies?.recheck ?? 0) : 0,
      },
      ...(team.replies === undefined ? {} : { replies: team.replies }),
      isSame: (one, other) => isSame(task, one, other, check),
      hint: around.aids?.hint,
      verdicts: { most: around.aids?.verdicts ?? 0, isWrong },
      recorder,
      signal,
    })
    totals = run.totals
    const found = await topology.work(run)
    exhausted = run.exhausted
    if (found === undefined) return undefined
    const agent = recorder.events.find(({ id }) => id === found.event)!.agent
    recorder.add({ type: 'answered', agent, parent: found.event, text: found.answer })
    return found.answer
  }
  const trajectory = await recordRun(head, work, spotted && ((event) => showEvent(event, spotted)))
  spotted?.end()
  signal.throwIfAborted()
  const verdict = await checkAnswer(task.gold, trajectory.answer, check)
  return {
    ...trajectory,
    verdict,
    meta: {
      suite: task.suite,
      domain: grammar.name,
      topology: topology.name,
      ...(task.level === undefined ? {} : { level: task.level }),
      ...(task.split === undefined ? {} : { split: task.split }),
      ...(exhausted === undefined ? {} : { exhausted }),
      ...totals,
      ms: Math.round(performance.now() - started),
    },
  }
}

/** Whether two answers are the same by the rules of the task's checker. The gold answer is not used. */
async function isSame({ gold }: Task, one: string, other: string, context: CheckContext): Promise<boolean> {
  if (gold.checker === 'math') return isRight({ ...gold, answer: one }, other, context)
  if (gold.checker === 'exact') return isRight({ ...gold, answers: [one] }, other, context)
  return answerKey(one) === answerKey(other)
}

async function isRight(gold: Task['gold'], answer: string, context: CheckContext): Promise<boolean> {
  return (await checkAnswer(gold, answer, context)).outcome === 'correct'
}

/** What the grammar allows or requires. */
function settingsFor(
  grammar: Grammar,
  reflectEvery: number,
): Omit<TopologySettings, 'workerSteps' | 'workFirst' | 'recheck'> {
  const { agents } = grammar
  const tools = [...agents.values()].filter(({ kind }) => kind === 'tool')
  const mustReflect =
    tools.length > 0 && tools.every(({ next }) => next.length === 1 && next[0] === 'reflection')
  return {
    reflectEvery: mustReflect ? 1 : reflectEvery,
    hasCheck: agents.has('suggested_answer') && agents.has('double_check'),
    mayReplan: agents.get('double_check')?.next.includes('plan') ?? false,
  }
}

/** Shows agents' messages and tool output; other events only record who passed what to whom. */
function showEvent(event: TrajectoryEvent, { text }: Spotted): void {
  if (event.type === 'wrote') text(`${event.agent}: ${event.text.trim()}\n`, 'model')
  if (event.type === 'tool-answered') text(`${event.output.trim()}\n`, 'tool')
}
