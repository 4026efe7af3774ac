import type { LoraSettings } from '../embedded/llama/lora.ts'
import { COLUMNS, decodeColumns } from './columns.ts'
import { columnLogprobs, columnsOf, datumOf, logprobsOf, type PassExample } from './datums.ts'
import type { Futures } from './futures.ts'
import { encodePass, PROTOBUF, readPassOutput } from './protobuf/messages.ts'
import type { CreatedModel, PassOutput, StepOutput } from './protocol-types.ts'
import type { SessionState } from './session-state.ts'
import { statusOf } from './wire-errors.ts'

export interface AdamParams {
  learning_rate: number
  beta1: number
  beta2: number
  eps: number
  weight_decay: number
  grad_clip_norm?: number
}

const NO_STEP: AdamParams = { learning_rate: 0, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0 }

export interface PassInput {
  data: readonly PassExample[]
  loss_fn: string
  loss_fn_config?: Record<string, number>
}

export interface PassAnswer {
  /** For every token of every example; the first of each is 0. */
  logprobs: Float32Array[]
  metrics: Record<string, number | null>
}

/** Encoding of passes. Columns are an extension of our trainer. */
export type PassEncoding = 'json' | 'protobuf' | 'columns'

/**
 * One model of a session. Training requests are numbered and submitted one after another, so that the server gets them in
 * order; their results are awaited concurrently.
 */
export class ModelSession {
  readonly modelId: string
  readonly #futures: Futures
  readonly #state: SessionState | undefined
  #nextSeq: number
  #last: Promise<unknown> = Promise.resolve()
  #hasGradients = false
  /** False if the server runs a repeated request twice. */
  repeatable = true
  encoding: PassEncoding = 'json'

  constructor(futures: Futures, modelId: string, options: { nextSeq?: number; state?: SessionState } = {}) {
    this.modelId = modelId
    this.#futures = futures
    this.#nextSeq = options.nextSeq ?? 1
    this.#state = options.state
  }

  async pass(
    path: '/forward' | '/forward_backward',
    input: PassInput,
    signal?: AbortSignal,
  ): Promise<PassAnswer> {
    if (path === '/forward_backward') this.#hasGradients = true
    if (this.encoding === 'columns') return this.#columnPass(path, input, signal)
    if (this.encoding === 'json') {
      const key = path === '/forward' ? 'forward_input' : 'forward_backward_input'
      try {
        const body = { [key]: { ...input, data: input.data.map(datumOf) } }
        return answerOf(await this.numbered<PassOutput>(path, body, signal), input)
      } catch (cause) {
        // "Unsupported media type": use protobuf from now on.
        if (statusOf(cause) !== 415) throw cause
        this.encoding = 'protobuf'
      }
    }
    const seq = this.#nextSeq++
    const forwardOnly = path === '/forward'
    const all = { ...input, data: input.data.map(datumOf) }
    const data = encodePass({ modelId: this.modelId, seqId: seq, forwardOnly, ...all })
    const answer = await this.#ordered(
      seq,
      '/forward_backward',
      undefined,
      { bytes: { type: PROTOBUF, data }, accept: `${PROTOBUF}, application/json` },
      signal,
    )
    return answerOf(answer instanceof Uint8Array ? readPassOutput(answer) : (answer as PassOutput), input)
  }

  async #columnPass(
    path: string,
    { data, ...loss }: PassInput,
    signal: AbortSignal | undefined,
  ): Promise<PassAnswer> {
    const seq = this.#nextSeq++
    const bytes = columnsOf({ model_id: this.modelId, seq_id: seq, ...loss }, data)
    const form = { bytes: { type: COLUMNS, data: bytes } }
    const answer = decodeColumns((await this.#ordered(seq, path, undefined, form, signal)) as Uint8Array)
    return {
      logprobs: columnLogprobs(answer, data),
      metrics: answer.header['metrics'] as PassAnswer['metrics'],
    }
  }

  step(adam: AdamParams): Promise<StepOutput> {
    this.#hasGradients = false
    return this.numbered('/optim_step', { adam_params: adam })
  }

  /** A request with the next sequence number. The body may take time: later requests wait for it. */
  numbered<T>(path: string, body: object | (() => Promise<object>), signal?: AbortSignal): Promise<T> {
    const seq = this.#nextSeq++
    const whole = async (): Promise<object> => ({
      model_id: this.modelId,
      seq_id: seq,
      ...(typeof body === 'function' ? await body() : body),
    })
    return this.#ordered(seq, path, whole, {}, signal) as Promise<T>
  }

  async #ordered(
    seq: number,
    path: string,
    body: (() => Promise<object>) | undefined,
    form: { bytes?: { type: string; data: Uint8Array }; accept?: string },
    signal?: AbortSignal,
  ): Promise<unknown> {
    this.#state?.begin(seq)
    const put = this.#last.then(async () =>
      this.#futures.submit<unknown>(path, await body?.(), { ...form, signal, repeatable: this.repeatable }),
    )
    this.#last = put.catch(() => undefined)
    try {
      const answer = await (await put).answer
      this.#state?.end(seq)
      return answer
    } catch (cause) {
      // An error response is a result too, and after an abort nobody asks again. Unanswered requests stay open.
      if (statusOf(cause) !== undefined || signal?.aborted) this.#state?.end(seq)
      throw cause
    }
  }

  /** Sends a pass twice with one sequence number; true if the server recognized the repetition. */
  async repeatsSafely(input: PassInput): Promise<boolean> {
    this.#hasGradients = true
    const seq = this.#nextSeq++
    const content = { ...input, data: input.data.map(datumOf) }
    const body = { model_id: this.modelId, seq_id: seq, forward_backward_input: content }
    const ids: unknown[] = []
    for (let time = 0; time < 2; time++) {
      const { requestId, answer } = await this.#futures.submit('/forward_backward', body)
      ids.push(requestId)
      await answer
    }
    return ids[0] !== undefined && ids[0] === ids[1]
  }

  /** The sequence number of the next request. */
  get nextSeq(): number {
    return this.#nextSeq
  }

  /** A restarted client repeats unanswered requests, whose bodies must then be the same. */
  get isRepeatedAfterRestart(): boolean {
    return this.#state !== undefined
  }

  forgetState(): void {
    this.#state?.remove()
  }

  /**
   * Unloads the model. Pending gradients are cleared first with a zero-length optimizer step: SkyRL would add them to the
   * first step of the next model in the same slot.
   */
  async unload(): Promise<void> {
    await this.#last
    if (this.#hasGradients) await this.step(NO_STEP).catch(() => undefined)
    await this.#futures.call('/unload_model', { model_id: this.modelId })
  }
}

function answerOf({ loss_fn_outputs, metrics }: PassOutput, { data }: PassInput): PassAnswer {
  const logprobs = data.map(({ tokens }, index) => logprobsOf(loss_fn_outputs[index]!, tokens.length))
  return { logprobs, metrics }
}

export interface NewModel {
  sessionId: string
  baseModel: string
  /** Undefined: full fine-tune. */
  lora: LoraSettings | undefined
  number: number
}

export async function createModel(
  futures: Futures,
  { sessionId, baseModel, lora, number }: NewModel,
): Promise<CreatedModel> {
  const body = {
    session_id: sessionId,
    model_seq_id: number,
    base_model: baseModel,
    lora_config: {
      rank: lora?.rank ?? 0,
      ...(lora?.alpha === undefined ? {} : { alpha: lora.alpha }),
      ...(lora?.seed === undefined ? {} : { seed: lora.seed }),
    },
  }
  return futures.call<CreatedModel>('/create_model', body, { repeatable: false })
}
