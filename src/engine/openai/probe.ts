import { EngineError } from '../checkpoint/index.ts'
import { type Connection, ServerRefusal } from './connection.ts'
import type { Dialect, LogprobKind, Piece, Question } from './dialect.ts'
import { llamaCpp } from './llama-cpp.ts'
import { sglang } from './sglang.ts'
import { ollama, plainOpenAI } from './text-servers.ts'
import { vllm } from './vllm.ts'

export interface Found {
  dialect: Dialect
  model: string
  contextLength: number
  /** 0 where the server does not say. */
  vocabularySize: number
  parameters: number
  /** Why it is spoken to in text, where it might be expected to take ids. */
  why?: string
}

interface Wanted {
  model: string | undefined
  contextLength: number | undefined
  textOnly: boolean
  /** A token of the model to try it with. */
  anyToken: number
}

type Kind = 'vLLM' | 'SGLang' | 'llama.cpp' | 'Ollama' | 'other'

interface ListedModel {
  id: string
  max_model_len?: number
  meta?: { n_ctx?: number; n_vocab?: number; n_params?: number } | null
}

/** Where a server does not say how long a text may be. */
const CONTEXT = 4096

/** Finds out what kind of server it is, which model it has and what it tells of the tokens it samples. */
export async function probe(connection: Connection, wanted: Wanted): Promise<Found> {
  const listed = (await optional(connection, '/v1/models')) as { data?: ListedModel[] } | undefined
  const kind = await kindOf(connection)
  if (listed === undefined && kind === 'other') {
    throw new EngineError(`${connection.base} is not a model server: it has no /v1/models`, {
      fix: 'Give the address of vLLM, SGLang, llama.cpp, Ollama or another server with the OpenAI API.',
    })
  }
  const models = listed?.data ?? []
  const model = modelOf(models, wanted.model, connection.base)
  const entry = models.find(({ id }) => id === model)
  const contextLength = wanted.contextLength ?? (await contextOf(connection, kind, model, entry))
  const common = {
    model,
    contextLength,
    vocabularySize: entry?.meta?.n_vocab ?? 0,
    parameters: entry?.meta?.n_params ?? 0,
  }
  if (kind === 'Ollama') return { ...common, dialect: ollama(model, contextLength) }
  if (kind === 'other' || wanted.textOnly) return { ...common, dialect: plainOpenAI(model) }
  return { ...common, ...(await tried(connection, kind, model, wanted.anyToken)) }
}

/** Undefined where the server does not know the address; it may well not, and is not asked again and again. */
async function optional(connection: Connection, path: string): Promise<unknown> {
  try {
    return await connection.json(path)
  } catch (cause) {
    if (cause instanceof ServerRefusal && [404, 405, 501].includes(cause.status)) return undefined
    if (cause instanceof EngineError && cause.message.includes('did not answer with JSON')) return undefined
    throw cause
  }
}

/** Each has an address that the others do not have. llama.cpp imitates some of Ollama's, so it is asked first. */
async function kindOf(connection: Connection): Promise<Kind> {
  const has = async (path: string, field: string): Promise<boolean> => {
    const answer = await optional(connection, path)
    return typeof answer === 'object' && answer !== null && field in answer
  }
  if (await has('/props', 'default_generation_settings')) return 'llama.cpp'
  if (await has('/model_info', 'model_path')) return 'SGLang'
  if (await has('/get_model_info', 'model_path')) return 'SGLang'
  if (await has('/version', 'version')) return 'vLLM'
  return (await has('/api/version', 'version')) ? 'Ollama' : 'other'
}

function modelOf(models: readonly ListedModel[], wanted: string | undefined, base: string): string {
  const names = models.map(({ id }) => id)
  const found =
    wanted === undefined
      ? names.length === 1
        ? names[0]
        : undefined
      : (names.find((name) => name === wanted || name === `${wanted}:latest`) ??
        (names.length === 0 ? wanted : undefined))
  if (found !== undefined) return found
  throw new EngineError(
    wanted === undefined
      ? `${base} has ${names.length} models, and none is named`
      : `${base} does not have the model ${wanted}`,
    {
      fix:
        names.length === 0
          ? 'Load a model into the server.'
          : `Name one of: ${names.slice(0, 20).join(', ')}.`,
    },
  )
}

async function contextOf(
  connection: Connection,
  kind: Kind,
  model: string,
  entry: ListedModel | undefined,
): Promise<number> {
  const told = entry?.max_model_len ?? entry?.meta?.n_ctx
  if (told !== undefined) return told
  if (kind !== 'Ollama') return CONTEXT
  const { model_info: info = {} } = (await connection.json('/api/show', { model })) as {
    model_info?: Record<string, unknown>
  }
  const key = Object.keys(info).find((name) => name.endsWith('.context_length'))
  return Math.min(CONTEXT, Number(info[key ?? ''] ?? CONTEXT))
}

/** Samples a token twice: does it come back as an id, and does its log-probability hang on the temperature? */
async function tried(
  connection: Connection,
  kind: Exclude<Kind, 'Ollama' | 'other'>,
  model: string,
  anyToken: number,
): Promise<{ dialect: Dialect; why?: string }> {
  if (kind === 'llama.cpp') return { dialect: llamaCpp() }
  const make = (logprobs: LogprobKind | undefined): Dialect =>
    kind === 'vLLM' ? vllm(model, logprobs) : sglang(logprobs)
  const dialect = make('model')
  const question: Question = {
    ids: [anyToken],
    text: '',
    maxTokens: 1,
    temperature: 1,
    topP: 1,
    topK: 1,
    seed: 1,
    stopTokens: [],
    allowed: undefined,
  }
  try {
    const [usual, hot] = [
      await first(connection, dialect, question),
      await first(connection, dialect, { ...question, temperature: 4 }),
    ]
    if (usual === undefined || hot === undefined || !Number.isInteger(usual.id)) {
      return { dialect: plainOpenAI(model), why: `this ${kind} returns no token ids` }
    }
    if (Number.isNaN(usual.logprob)) return { dialect: make(undefined) }
    // Of one token left over, a server that tells what it drew from says that it was certain.
    if (usual.logprob === 0 && hot.logprob === 0) return { dialect: make('drawn') }
    const same = usual.id === hot.id && Math.abs(usual.logprob - hot.logprob) < 1e-3
    return { dialect: make(same ? 'model' : kind === 'vLLM' ? 'drawn' : 'temperature') }
  } catch (cause) {
    if (!(cause instanceof ServerRefusal) || cause.status >= 500 || cause.status === 401) throw cause
    return {
      dialect: plainOpenAI(model),
      why: `this ${kind} does not take prompts as token ids: ${cause.message}`,
    }
  }
}

async function first(
  connection: Connection,
  dialect: Dialect,
  question: Question,
): Promise<Piece['tokens'][number] | undefined> {
  const read = dialect.reader()
  for await (const event of connection.stream(dialect.path, dialect.body(question))) {
    const [token] = read(event as never).tokens
    if (token !== undefined) return token
  }
  return undefined
}
