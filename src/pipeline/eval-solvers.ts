import { basename, resolve } from 'node:path'
import { modelFolder, openChatModel, type World } from '../agent/index.ts'
import { ConfigError } from '../base/errors/index.ts'
import type { Observe } from '../base/progress/index.ts'
import { byteTokenizer, openTokenizer, type Tokenizer, tokenizerNamed } from '../language/tokens/index.ts'
import {
  chatOfModel,
  type OpenSolver,
  openModelSolver,
  openTalkSolver,
  openTextSolver,
  talkSolver,
  withToolSettings,
} from '../stages/eval/index.ts'
import type { ProjectConfig } from './settings.ts'
import { teamSolver } from './team-solver.ts'

/** A solver to evaluate. */
export type SolverRequest =
  | { kind: 'model' | 'text'; folder: string; name?: string }
  | { kind: 'team' }
  /** Without a folder, the model from the settings. */
  | { kind: 'plain' | 'react'; folder?: string; name?: string }

/** The name of a solver in tables and stored attempts. */
export function solverName(request: SolverRequest, config: ProjectConfig): string {
  if (request.kind === 'team') return `${basename(config.teach.topology, '.ts')}-${config.teach.mind}`
  if (request.name !== undefined) return request.name
  if (request.kind === 'model') return folderName(request.folder)
  const model = request.folder === undefined ? baseline(config).model : folderName(request.folder)
  if (model !== undefined) return `${request.kind} ${model}`
  throw new ConfigError('there is no model to evaluate', {
    fix: 'Set eval.base_url and eval.model, or give a folder with --model.',
  })
}

/** Opens a solver; its identity includes the settings of its tools. */
export async function openSolver(
  request: SolverRequest,
  config: ProjectConfig,
  world: World,
  tokenizer: Tokenizer,
  observe: Observe,
): Promise<OpenSolver> {
  const { solver, close } = await openBare(request, config, world, tokenizer, observe)
  return { solver: withToolSettings(solver, config), close }
}

async function openBare(
  request: SolverRequest,
  config: ProjectConfig,
  world: World,
  tokenizer: Tokenizer,
  observe: Observe,
): Promise<OpenSolver> {
  const name = solverName(request, config)
  if (request.kind === 'team') {
    const { solver, close } = await teamSolver(config, world, tokenizer)
    return { solver: { ...solver, name }, close }
  }
  if (request.kind === 'model') return openModelSolver(name, request.folder, config, world, { observe })
  if (request.kind === 'text') return openTextSolver(name, request.folder, config, world, { observe })
  if (request.folder !== undefined)
    return openTalkSolver(request.kind, name, request.folder, config, world, { observe })
  const section = baseline(config)
  const model = openChatModel(section === config.eval ? 'eval' : 'teacher', section, config.engine)!
  const solver = talkSolver(request.kind, name, chatOfModel(model, tokenizer), config, world)
  return { solver, close: async () => model.close?.() }
}

/** The tokenizer that counts tokens for all solvers: the first model's, otherwise the student's. */
export async function countingTokenizer(
  requests: readonly SolverRequest[],
  config: ProjectConfig,
): Promise<Tokenizer> {
  const folder = requests.flatMap((request) => ('folder' in request ? [request.folder] : []))[0]
  if (folder !== undefined) return openTokenizer(modelFolder(folder))
  if (config.language.tokenizer !== 'bytes') return tokenizerNamed(config.language.tokenizer)
  try {
    return await openTokenizer(modelFolder(config.student.model))
  } catch {
    return byteTokenizer()
  }
}

/** The settings of the model for --plain and --react: [eval], or [teacher] if that has none. */
function baseline(config: ProjectConfig): ProjectConfig['eval'] | ProjectConfig['teacher'] {
  return config.eval.model === undefined && config.eval.base_url === undefined ? config.teacher : config.eval
}

function folderName(folder: string): string {
  return basename(resolve(folder))
}
