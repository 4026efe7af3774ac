import { randomInt } from 'node:crypto'
import {
  modelFolder,
  openStudent,
  openWorld,
  type Policy,
  type RollOutOptions,
  type RolloutJob,
  rollOut,
  rollOutAll,
  rolloutSettings,
  worldForQuestion,
} from '../../agent/index.ts'
import { UsageError } from '../../base/errors/index.ts'
import { seedOf } from '../../base/random/index.ts'
import { type Grammar, projectGrammar } from '../../language/grammar/index.ts'
import type { Rollout, Task } from '../../schema/index.ts'
import { type McpServer, openMcp, type Tool } from '../../world/tools/index.ts'
import { type AnswerPicker, answerPicker, type PickAnswer } from '../answer-picker.ts'
import type { ProjectConfig } from '../settings.ts'
import { type Solved, solvedBy } from './solved.ts'

/** A model that is already open: what `openStudent` returns, or an engine and a tokenizer of your own. */
export interface OpenedModel extends Omit<Policy, 'checkpoint'> {
  /** The name of the weights, for the record. */
  checkpoint?: string
  folder?: string
}

export interface ChainModelOptions {
  /**
   * Only these tools: those of the grammar by name, your own from `defineTool`, and those of an MCP server. Default: all tools of
   * the grammar.
   */
  tools?: readonly (string | Tool | McpServer)[] | undefined
  /** Search the fictional encyclopedia with this seed. */
  world?: number | undefined
}

export interface QuestionOptions {
  /** Default: rollout.temperature. */
  temperature?: number | undefined
  topP?: number | undefined
  topK?: number | undefined
  maxTurns?: number | undefined
  /** Tokens after the prompt, observations included. */
  maxTokens?: number | undefined
  constrained?: boolean | undefined
  /** The same seed gives the same chain. Default: random. */
  seed?: number | undefined
  /** Sample this many answers and pick one. */
  bestOf?: number | undefined
  /** Default: majority. */
  pick?: PickAnswer | undefined
  signal?: AbortSignal | undefined
  /** Called with text as it is added to the chain, if there is only one. */
  onText?: ((text: string, from: 'model' | 'tool') => void) | undefined
  /** Called with each of several chains when it is done. */
  onCandidate?: ((rollout: Rollout, number: number) => void) | undefined
}

/** How one of several answers will be picked. Throws if that cannot work, whatever the model. */
export async function pickerFor(config: ProjectConfig, options: QuestionOptions): Promise<AnswerPicker> {
  const { bestOf: count = 1, pick = 'majority' } = options
  if (!Number.isInteger(count) || count < 1)
    throw new UsageError(`cannot sample ${count} answers`, { fix: 'Give a whole number, such as 8.' })
  if (count > 1 && limitsOf(config, options).temperature === 0)
    throw new UsageError(`at temperature 0, all ${count} answers would be the same`, {
      fix: 'Use a higher temperature, or sample only one answer.',
    })
  return answerPicker(pick, config)
}

/** With `onCalled`, called after each tool call, before its output is added to the chain. */
type ChainOptions = QuestionOptions & Pick<RollOutOptions, 'onCalled'>

/** A model with its tools, ready for questions. */
export interface ChainModel {
  name: string
  grammar: Grammar
  solve(question: string, options?: ChainOptions): Promise<Solved>
  /** Closes what was opened with it. */
  close(): Promise<void>
}

/** Opens the tools now and the model with the first question. */
export async function openChainModel(
  config: ProjectConfig,
  { tools, world: encyclopedia, opened }: ChainModelOptions & { opened?: OpenedModel | undefined } = {},
): Promise<ChainModel> {
  if (opened === undefined) modelFolder(config.student.model)
  const { url } = config.engine
  const name = opened?.checkpoint ?? opened?.folder ?? (config.engine.driver === 'openai' ? url : undefined)
  const about = {
    domain: (await projectGrammar(config.language)).name,
    meta: encyclopedia === undefined ? {} : { world: encyclopedia },
  }
  const closing: (() => Promise<void>)[] = []
  const close = async (): Promise<void> => {
    for (const end of closing.splice(0).reverse()) await end()
  }
  try {
    const whole = await openWorld(config)
    closing.push(() => whole.close())
    const named = tools === undefined ? undefined : await openServers(tools, closing)
    const { world, grammar } = await worldForQuestion(whole, about, config, named)
    let opening: Promise<Policy> | undefined
    const policyOf = async (): Promise<Policy> => {
      if (opened !== undefined) return { ...opened, checkpoint: name ?? 'model' }
      const student = await openStudent(config)
      closing.push(() => student.engine.close())
      return { ...student, checkpoint: name ?? student.folder }
    }
    return {
      name: name ?? config.student.model,
      grammar,
      close,
      async solve(question, options = {}) {
        const { bestOf = 1, seed = randomInt(2 ** 32), signal } = options
        const settings = limitsOf(config, options)
        const picker = await pickerFor(config, options)
        picker.assertFits(grammar)
        opening ??= policyOf().catch((error: unknown) => {
          opening = undefined
          throw error
        })
        const policy = await opening
        const task: Task = {
          v: 1,
          id: 'question',
          suite: 'solve',
          question,
          // Unknown, so the rollout is not checked.
          gold: { checker: 'judge', answer: '' },
          ...about,
        }
        const jobs = Array.from({ length: bestOf }, (_, number): RolloutJob => {
          const own = seedOf(seed, 'solve', number)
          return { task, id: `question#${number}`, groupId: 'question', seed: own, unchecked: true }
        })
        const started = performance.now()
        const { onText, onCalled, onCandidate } = options
        const rollouts =
          bestOf === 1
            ? [
                await rollOut(jobs[0]!, policy, world, settings, {
                  ...(signal === undefined ? {} : { signal }),
                  ...(onText === undefined ? {} : { onText }),
                  ...(onCalled === undefined ? {} : { onCalled }),
                }),
              ]
            : await rollOutAll(jobs, policy, world, settings, {
                concurrency: config.rollout.concurrency,
                ...(signal === undefined ? {} : { signal }),
                onRollout: (rollout) =>
                  onCandidate?.(
                    rollout,
                    jobs.findIndex(({ id }) => id === rollout.id),
                  ),
              })
        const choice =
          bestOf === 1 ? undefined : await picker.pick({ question, candidates: rollouts, grammar }, signal)
        const seconds = (performance.now() - started) / 1000
        return solvedBy({ question, model: policy.checkpoint, grammar, rollouts, choice, seconds, seed })
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

function limitsOf(config: ProjectConfig, options: QuestionOptions): ReturnType<typeof rolloutSettings> {
  const own = rolloutSettings(config)
  return {
    ...own,
    temperature: options.temperature ?? own.temperature,
    topP: options.topP ?? own.topP,
    topK: options.topK ?? own.topK,
    maxTurns: options.maxTurns ?? own.maxTurns,
    maxTokens: options.maxTokens ?? own.maxTokens,
    constrained: options.constrained ?? own.constrained,
  }
}

/** Starts the MCP servers among the tools, in order. */
async function openServers(
  tools: readonly (string | Tool | McpServer)[],
  closing: (() => Promise<void>)[],
): Promise<(string | Tool)[]> {
  const named: (string | Tool)[] = []
  for (const tool of tools) {
    if (typeof tool === 'string' || 'execute' in tool) {
      named.push(tool)
      continue
    }
    const taken = named.map((other) => (typeof other === 'string' ? other : other.name))
    const server = await openMcp(tool, { taken })
    closing.push(server.close)
    named.push(...server.tools)
  }
  return named
}
