import { ConfigError, UsageError } from '../base/errors/index.ts'
import type { Observe } from '../base/progress/index.ts'
import {
  type AdapterCheckpoint,
  type Engine,
  inspectModel,
  isModelFolder,
  openEmbedded,
  openOpenAI,
  openTinker,
} from '../engine/index.ts'
import { openTokenizer, type Tokenizer } from '../language/tokens/index.ts'
import { keyFrom, ownModel, readEnvironment } from '../settings/index.ts'
import type { StudentConfig } from './settings.ts'

/** The model that is trained and sampled. */
export interface Student {
  engine: Engine
  tokenizer: Tokenizer
  /** End tokens. */
  endTokens: readonly number[]
  /** The folder it was loaded from. */
  folder: string
}

/** The folder of a model: a path, or the name of a bundled one. */
export function modelFolder(name: string): string {
  if (isModelFolder(name)) return name
  const own = ownModel(name)
  if (own !== undefined) return own
  throw new UsageError(`there is no model "${name}"`, {
    fix: 'Name a folder with a config.json, or create one with `coa model new`.',
  })
}

/**
 * Opens a model on the engine that the settings name, with its tokenizer. `observe` gets notes, `progress` how far a server
 * has come with loading it.
 *
 * @example
 * import { openStudent, ProjectConfig } from 'chain-of-agents'
 *
 * const { engine, tokenizer } = await openStudent(ProjectConfig.parse({}), 'nano')
 * const [sample] = await engine.sample({ prompt: tokenizer.encodeIds('<think>'), maxTokens: 20 })
 * console.log(tokenizer.decode(sample!.tokens))
 * await engine.close()
 */
export async function openStudent(
  config: StudentConfig,
  model = config.student.model,
  observe?: (line: string) => void,
  progress?: Observe,
): Promise<Student> {
  const folder = modelFolder(model)
  const { shape, adapter } = await inspectModel(folder)
  const tokenizer = await openTokenizer(folder)
  const endTokens = [
    ...new Set([...shape.endTokens, ...(tokenizer.eosId === undefined ? [] : [tokenizer.eosId])]),
  ]
  const engine = await openEngine(config, folder, adapter, {
    ...(observe === undefined ? {} : { observe }),
    ...(progress === undefined ? {} : { progress }),
  })
  return { engine, tokenizer, endTokens, folder }
}

async function openEngine(
  { engine, student }: StudentConfig,
  folder: string,
  adapter: AdapterCheckpoint | undefined,
  watch: { observe?: (line: string) => void; progress?: Observe },
): Promise<Engine> {
  const key = keyFrom(readEnvironment(), engine.key_env)
  const lora = loraOf(student.lora_rank, adapter, folder)
  if (engine.driver === 'embedded') {
    return openEmbedded({
      model: folder,
      ...(engine.device === undefined ? {} : { device: engine.device }),
      ...(engine.threads === 0 ? {} : { threads: engine.threads }),
      ...lora,
    })
  }
  if (engine.url === undefined) {
    throw new ConfigError(`the engine "${engine.driver}" needs the URL of its server`, {
      fix: 'Set engine.url, such as --set engine.url=http://localhost:8000.',
    })
  }
  const server = { url: engine.url, tokenizer: folder, ...(key === undefined ? {} : { key }) }
  if (engine.driver === 'openai') return openOpenAI(server)
  return openTinker({ ...server, ...lora, model: folder, ...watch })
}

/** An adapter checkpoint stays an adapter: training continues with it, and it is sampled on its base. */
function loraOf(
  rank: number,
  adapter: AdapterCheckpoint | undefined,
  folder: string,
): { lora?: { rank: number; alpha: number; seed: number } } {
  if (adapter === undefined) return rank === 0 ? {} : { lora: { rank, alpha: 2 * rank, seed: 1 } }
  if (rank !== 0 && rank !== adapter.rank)
    throw new ConfigError(
      `student.lora_rank is ${rank}, but ${folder} is an adapter of rank ${adapter.rank}`,
      {
        fix: `Set it to ${adapter.rank}, or merge the adapter first: \`coa model convert ${folder} OUT\`.`,
      },
    )
  return { lora: { rank: adapter.rank, alpha: adapter.alpha, seed: 1 } }
}
