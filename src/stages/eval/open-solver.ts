import {
  openStudent,
  type Policy,
  type RolloutSettings,
  rollOutWatched,
  rolloutSettings,
  type World,
} from '../../agent/index.ts'
import type { RolloutSection, StudentConfig } from '../../agent/settings.ts'
import { digestOf } from '../../base/digests/index.ts'
import type { Observe, Spotlight } from '../../base/progress/index.ts'
import { fingerprintOfFolder } from '../../engine/index.ts'
import type { WorldConfig } from '../../world/settings.ts'
import { attemptOfRollout } from './attempts.ts'
import { type Chat, chatOfPolicy } from './chat.ts'
import type { Solver } from './contract.ts'
import { plainSolver } from './plain-solver.ts'
import { reactSolver } from './react-solver.ts'
import type { EvalSection } from './settings.ts'
import { textSolver } from './text-solver.ts'
import { tokenizerName } from './token-tally.ts'

export interface SolverConfig extends WorldConfig, StudentConfig {
  rollout: RolloutSection
  eval: EvalSection
}

/** Opened one at a time, because two large models may not fit in memory together. */
export interface OpenSolver {
  solver: Solver
  close: () => Promise<void>
}

interface Watch {
  spotlight?: Spotlight | undefined
  /** The progress of loading the model. */
  observe?: Observe | undefined
}

/** The model in a folder as a solver, with its own engine. */
export function openModelSolver(
  name: string,
  folder: string,
  config: SolverConfig,
  world: World,
  watch: Watch = {},
): Promise<OpenSolver> {
  return openWith(modelSolver, name, folder, config, world, watch)
}

/** The same, but the model continues the question as plain text, and its code is executed. */
export function openTextSolver(
  name: string,
  folder: string,
  config: SolverConfig,
  world: World,
  watch: Watch = {},
): Promise<OpenSolver> {
  return openWith(textSolver, name, folder, config, world, watch)
}

/** The model in a folder as a chat model: asked once, or as a ReAct agent. */
export async function openTalkSolver(
  kind: 'plain' | 'react',
  name: string,
  folder: string,
  config: SolverConfig,
  world: World,
  { observe }: Watch = {},
): Promise<OpenSolver> {
  const student = await openStudent(config, folder, undefined, observe)
  const policy = { ...student, checkpoint: student.folder }
  const chat = chatOfPolicy(policy, fingerprintOfFolder(student.folder))
  return { solver: talkSolver(kind, name, chat, config, world), close: () => student.engine.close() }
}

export function talkSolver(
  kind: 'plain' | 'react',
  name: string,
  chat: Chat,
  config: SolverConfig,
  world: World,
): Solver {
  const talk = { temperature: evalTemperature(config), maxTokens: config.eval.max_tokens }
  return kind === 'plain'
    ? plainSolver(name, chat, world, talk)
    : reactSolver(name, chat, world, { ...talk, maxTurns: config.eval.max_turns })
}

async function openWith(
  solverOf: (options: ModelSolverOptions) => Solver,
  name: string,
  folder: string,
  config: SolverConfig,
  world: World,
  { spotlight, observe }: Watch,
): Promise<OpenSolver> {
  const student = await openStudent(config, folder, undefined, observe)
  const solver = solverOf({
    name,
    fingerprint: fingerprintOfFolder(student.folder),
    policy: { ...student, checkpoint: student.folder },
    world,
    settings: { ...rolloutSettings(config), temperature: evalTemperature(config) },
    ...(spotlight === undefined ? {} : { spotlight }),
  })
  return { solver, close: () => student.engine.close() }
}

/** Tool settings affect a solver's results, so they are part of its digest. */
export function withToolSettings(
  solver: Solver,
  config: Pick<WorldConfig, 'tools' | 'search'> & { eval: EvalSection },
): Solver {
  const { cache: _, ...tools } = config.tools
  const { add_tools: added, remove_tools: removed } = config.eval
  const changes = added.length + removed.length === 0 ? [] : [added, removed]
  return { ...solver, how: digestOf(solver.how, tools, config.search, ...changes) }
}

function evalTemperature({
  eval: { temperature, attempts },
  rollout,
}: Pick<SolverConfig, 'eval' | 'rollout'>): number {
  return temperature ?? (attempts > 1 ? rollout.temperature : 0)
}

export interface ModelSolverOptions {
  name: string
  /** Digest of the weights. */
  fingerprint: string
  policy: Policy
  world: World
  settings: RolloutSettings
  spotlight?: Spotlight
}

/**
 * The trained model alone, with live tools, as a solver: the same prompt, runtime and checker as in training.
 *
 * @example
 * import { modelSolver, openStudent, openWorld, ProjectConfig, rolloutSettings } from 'chain-of-agents'
 * import { verifyCheckpoint } from 'chain-of-agents/engine'
 *
 * const config = ProjectConfig.parse({})
 * const { fingerprint } = verifyCheckpoint('models/mine')
 * const policy = { ...(await openStudent(config, 'models/mine')), checkpoint: 'mine' }
 * const [world, settings] = [await openWorld(config), rolloutSettings(config)]
 * const student = modelSolver({ name: 'student', fingerprint, policy, world, settings })
 */
export function modelSolver({
  name,
  fingerprint,
  policy,
  world,
  settings,
  spotlight,
}: ModelSolverOptions): Solver {
  return {
    name,
    kind: 'model',
    how: digestOf(fingerprint, settings),
    tokenizer: tokenizerName(policy.tokenizer),
    async solve(task, attempt, seed, signal) {
      const job = { task, id: `${name}|${task.id}#${attempt}`, groupId: `${name}|${task.id}`, seed }
      return attemptOfRollout(await rollOutWatched(job, policy, world, settings, { signal, spotlight }))
    },
  }
}
