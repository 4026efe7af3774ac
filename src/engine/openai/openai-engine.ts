import { openTokenizer, type Tokenizer } from '../../language/tokens/index.ts'
import { checkRequest } from '../check-request.ts'
import { EngineError } from '../checkpoint/index.ts'
import type { Engine, EngineDescription, Sample, SampleRequest } from '../contract.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { probe, type ServerInfo } from './probe.ts'
import { sampleText } from './sample-text.ts'
import { sampleTokens } from './sample-tokens.ts'

export interface OpenAIOptions extends ConnectionOptions {
  /** The server's name for it; optional if it has only one. */
  model?: string
  /** The model's tokenizer, or its folder. Needed for stop strings, and for servers that accept only text. */
  tokenizer?: string | Tokenizer
  /** Context length, if the server does not report it. */
  contextLength?: number
  /** Use text even if the server supports token ids. */
  textOnly?: boolean
}

/**
 * Opens a model on a server with the OpenAI API: vLLM, SGLang, llama.cpp, Ollama and others. It can sample but not train.
 *
 * @example
 * import { openOpenAI, openTokenizer } from 'chain-of-agents/engine'
 *
 * const tokenizer = await openTokenizer('models/mine')
 * const engine = await openOpenAI({ url: 'http://127.0.0.1:8000', tokenizer })
 * const [sample] = await engine.sample({ prompt: tokenizer.encodeIds('one two'), maxTokens: 20, seed: 1 })
 */
export async function openOpenAI(options: OpenAIOptions): Promise<Engine> {
  const connection = new Connection(options)
  const given = options.tokenizer
  const tokenizer = typeof given === 'string' ? await openTokenizer(given) : given
  const found = await probe(connection, {
    model: options.model,
    contextLength: options.contextLength,
    textOnly: options.textOnly === true,
    anyToken: tokenizer?.encodeIds('a')[0] ?? 1,
  })
  if (!found.dialect.tokens && tokenizer === undefined) {
    throw new EngineError(`${found.dialect.server} works with text, so a tokenizer is required`, {
      fix: "Pass the folder of the model's tokenizer: openOpenAI({ url, tokenizer: FOLDER }).",
    })
  }
  return new OpenAIEngine(connection, found, tokenizer)
}

class OpenAIEngine implements Engine {
  readonly #connection: Connection
  readonly #found: ServerInfo
  readonly #tokenizer: Tokenizer | undefined
  readonly #closed = new AbortController()

  constructor(connection: Connection, found: ServerInfo, tokenizer: Tokenizer | undefined) {
    this.#connection = connection
    this.#found = found
    this.#tokenizer = tokenizer
  }

  describe(): EngineDescription {
    const { dialect, model, contextLength, vocabularySize, parameters, why } = this.#found
    const { server, tokens, logprobs, allowed } = dialect
    return {
      driver: 'openai',
      device: `${model} on ${server === 'The server' ? 'a server' : server} at ${this.#connection.base}`,
      contextLength,
      vocabularySize: this.#tokenizer?.vocabularySize ?? vocabularySize,
      parameters,
      trainedParameters: 0,
      lossIs: 'sum',
      missing: {
        train: NO_TRAINING,
        ...(tokens
          ? {}
          : {
              logprobs: `${why ?? `${server} works with text`}: the sampled tokens and their log-probabilities are unknown, so they cannot be trained on`,
            }),
        ...(tokens && logprobs === undefined
          ? { logprobs: `${server} does not report log-probabilities of sampled tokens` }
          : {}),
        ...(allowed ? {} : { allowedTokens: `${server} does not support allowed tokens` }),
      },
    }
  }

  async sample(request: SampleRequest): Promise<Sample[]> {
    const { dialect, contextLength } = this.#found
    check(request, this.describe())
    request.signal?.throwIfAborted()
    const signal = AbortSignal.any([
      this.#closed.signal,
      ...(request.signal === undefined ? [] : [request.signal]),
    ])
    const context = {
      connection: this.#connection,
      dialect,
      contextLength,
      tokenizer: this.#tokenizer,
    }
    const one = dialect.tokens ? sampleTokens : sampleText
    // If one fails, the others are cancelled.
    const failed = new AbortController()
    const shared = { ...request, signal: AbortSignal.any([signal, failed.signal]) }
    try {
      return await Promise.all(
        Array.from({ length: request.count ?? 1 }, (_, index) => one(context, shared, index)),
      )
    } catch (cause) {
      failed.abort()
      throw cause
    }
  }

  forward(): Promise<never> {
    return unsupported('compute the log-probabilities of given tokens')
  }

  forwardBackward(): Promise<never> {
    return unsupported('train')
  }

  optimStep(): Promise<never> {
    return unsupported('train')
  }

  save(): Promise<never> {
    return unsupported('save a model')
  }

  load(): Promise<never> {
    return unsupported('load a model')
  }

  async close(): Promise<void> {
    this.#closed.abort(new EngineError('The engine is closed.', { fix: 'Open it again.' }))
  }
}

const NO_TRAINING = 'servers with the OpenAI API only sample'

async function unsupported(what: string): Promise<never> {
  throw new EngineError(`this engine cannot ${what}: ${NO_TRAINING}`, {
    fix: 'Train with the embedded engine or the trainer, and sample here.',
  })
}

function check(request: SampleRequest, description: EngineDescription): void {
  const { contextLength, vocabularySize, missing } = description
  // Not every server reports its vocabulary size.
  checkRequest(request, { contextLength, vocabularySize: vocabularySize || Number.POSITIVE_INFINITY })
  if (request.allowed === undefined || missing.allowedTokens === undefined) return
  throw new EngineError(missing.allowedTokens, { fix: 'Sample without a mask, or with another engine.' })
}
