import { EngineError } from '../checkpoint/index.ts'
import { type Connection, ServerError } from './connection.ts'
import type { CompletionRequest, Dialect, LogprobKind, ResponsePart } from './dialect.ts'
import { llamaCpp } from './llama-cpp.ts'
import { sglang } from './sglang.ts'
import { ollama, plainOpenAI } from './text-servers.ts'
import { vllm } from './vllm.ts'

export interface ServerInfo {
  dialect: Dialect
  model: string
  contextLength: number
  /** 0 if the server does not report it. */
  vocabularySize: number
  parameters: number
  /** Why text is used although the server might support ids. */
  why?: string
}

interface ProbeOptions {
  model: string | undefined
  contextLength: number | undefined
  textOnly: boolean
  /** Any token of the model, for a test request. */
  anyToken: number
}

type Kind = 'vLLM' | 'SGLang' | 'llama.cpp' | 'Ollama' | 'other'

interface ListedModel {
  id: string
  max_model_len?: number
  meta?: { n_ctx?: number; n_vocab?: number; n_params?: number } | null
}

/** Default context length. */
const CONTEXT = 4096

/** Detects the kind of server, its model, and what it reports about sampled tokens. */
export async function probe(connection: Connection, wanted: ProbeOptions): Promise<ServerInfo> {
  const listed = (await optional(connection, '/v1/models')) as { data?: ListedModel[] } | undefined
  const kind = await kindOf(connection)
  if (listed === undefined && kind === 'other') {
    throw new EngineError(`${connection.base} is not a model server: it has no /v1/models`, {
      fix: 'Pass the URL of vLLM, SGLang, llama.cpp, Ollama or another server with the OpenAI API.',
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
  return { ...common, ...(await detectDialect(connection, kind, model, wanted.anyToken)) }
}

/** Undefined if the server does not have the path, without retries. */
async function optional(connection: Connection, path: string): Promise<unknown> {
  try {
    return await connection.json(path)
  } catch (cause) {
    if (cause instanceof ServerError && [404, 405, 501].includes(cause.status)) return undefined
    if (cause instanceof EngineError && cause.message.includes('did not respond with JSON')) return undefined
    throw cause
  }
}

/** Each has a path that the others lack. llama.cpp imitates some of Ollama's, so it comes first. */
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
      ? `${base} has ${names.length} models; one must be chosen`
      : `${base} does not have the model ${wanted}`,
    {
      fix:
        names.length === 0
          ? 'Load a model into the server.'
          : `Choose one of: ${names.slice(0, 20).join(', ')}.`,
    },
  )
}

async function contextOf(
  connection: Connection,
  kind: Kind,
  model: string,
  entry: ListedModel | undefined,
): Promise<number> {
  const reported = entry?.max_model_len ?? entry?.meta?.n_ctx
  if (reported !== undefined) return reported
  if (kind !== 'Ollama') return CONTEXT
  const { model_info: info = {} } = (await connection.json('/api/show', { model })) as {
    model_info?: Record<string, unknown>
  }
  const key = Object.keys(info).find((name) => name.endsWith('.context_length'))
  return Math.min(CONTEXT, Number(info[key ?? ''] ?? CONTEXT))
}

/** Samples a token twice: is it returned as an id, and does its log-probability depend on the temperature? */
async function detectDialect(
  connection: Connection,
  kind: Exclude<Kind, 'Ollama' | 'other'>,
  model: string,
  anyToken: number,
): Promise<{ dialect: Dialect; why?: string }> {
  if (kind === 'llama.cpp') return { dialect: llamaCpp() }
  const make = (logprobs: LogprobKind | undefined): Dialect =>
    kind === 'vLLM' ? vllm(model, logprobs) : sglang(logprobs)
  const dialect = make('model')
  const completion: CompletionRequest = {
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
      await first(connection, dialect, completion),
      await first(connection, dialect, { ...completion, temperature: 4 }),
    ]
    if (usual === undefined || hot === undefined || !Number.isInteger(usual.id)) {
      return { dialect: plainOpenAI(model), why: `this ${kind} returns no token ids` }
    }
    if (Number.isNaN(usual.logprob)) return { dialect: make(undefined) }
    // With top-k 1, a server that reports the sampling distribution returns probability 1.
    if (usual.logprob === 0 && hot.logprob === 0) return { dialect: make('sampling') }
    const same = usual.id === hot.id && Math.abs(usual.logprob - hot.logprob) < 1e-3
    return { dialect: make(same ? 'model' : kind === 'vLLM' ? 'sampling' : 'temperature') }
  } catch (cause) {
    if (!(cause instanceof ServerError) || cause.status >= 500 || cause.status === 401) throw cause
    return {
      dialect: plainOpenAI(model),
      why: `this ${kind} does not accept prompts as token ids: ${cause.message}`,
    }
  }
}

async function first(
  connection: Connection,
  dialect: Dialect,
  completion: CompletionRequest,
): Promise<ResponsePart['tokens'][number] | undefined> {
  const read = dialect.reader()
  for await (const event of connection.stream(dialect.path, dialect.body(completion))) {
    const [token] = read(event as never).tokens
    if (token !== undefined) return token
  }
  return undefined
}
