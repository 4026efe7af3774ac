import type { LoraSettings } from '../embedded/llama/lora.ts'
import type { Datum } from './datums.ts'
import type { Futures } from './futures.ts'
import { encodePass, PROTOBUF, readPassOutput } from './protobuf/messages.ts'
import type { CreatedModel, PassOutput, StepOutput } from './protocol-types.ts'
import type { SessionState } from './session-state.ts'
import { statusOf } from './wire-failure.ts'

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
  data: Datum[]
  loss_fn: string
  loss_fn_config?: Record<string, number>
}

/**
 * One model of a session. Its training requests are numbered and put one after the other, so that the server sees them
 * in the order in which they were asked for; their answers are awaited together.
 */
export class ModelSession {
  readonly modelId: string
  readonly #futures: Futures
  readonly #state: SessionState | undefined
  #nextSeq: number
  #last: Promise<unknown> = Promise.resolve()
  #gathered = false
  /** False where the server does a request twice that comes twice. */
  repeatable = true
  encoding: 'json' | 'protobuf' = 'json'

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
  ): Promise<PassOutput> {
    if (path === '/forward_backward') this.#gathered = true
    const key = path === '/forward' ? 'forward_input' : 'forward_backward_input'
    if (this.encoding === 'json') {
      try {
        return await this.numbered(path, { [key]: input }, signal)
      } catch (cause) {
        // "Unsupported media type": from now on in the binary form.
        if (statusOf(cause) !== 415) throw cause
        this.encoding = 'protobuf'
      }
    }
    const seq = this.#nextSeq++
    const forwardOnly = path === '/forward'
    const data = encodePass({ modelId: this.modelId, seqId: seq, forwardOnly, ...input })
    const answer = await this.#ordered(
      seq,
      '/forward_backward',
      undefined,
      { bytes: { type: PROTOBUF, data }, accept: `${PROTOBUF}, application/json` },
      signal,
    )
    return answer instanceof Uint8Array ? readPassOutput(answer) : (answer as PassOutput)
  }

  step(adam: AdamParams): Promise<StepOutput> {
    this.#gathered = false
    return this.numbered('/optim_step', { adam_params: adam })
  }

  /** A request with the next number. */
  numbered<T>(path: string, body: object, signal?: AbortSignal): Promise<T> {
    const seq = this.#nextSeq++
    return this.#ordered(
      seq,
      path,
      { model_id: this.modelId, seq_id: seq, ...body },
      {},
      signal,
    ) as Promise<T>
  }

  async #ordered(
    seq: number,
    path: string,
    body: object | undefined,
    form: { bytes?: { type: string; data: Uint8Array }; accept?: string },
    signal?: AbortSignal,
  ): Promise<unknown> {
    this.#state?.begin(seq)
    const put = this.#last.then(() =>
      this.#futures.submit<unknown>(path, body, { ...form, signal, repeatable: this.repeatable }),
    )
    this.#last = put.catch(() => undefined)
    try {
      const answer = await (await put).answer
      this.#state?.end(seq)
      return answer
    } catch (cause) {
      // A refusal is an answer too, and after an abort nobody will ask again. What got no answer stays open.
      if (statusOf(cause) !== undefined || signal?.aborted) this.#state?.end(seq)
      throw cause
    }
  }

  /** Sends a pass twice under one number, and says whether the server took it for the same. */
  async repeatsSafely(input: PassInput): Promise<boolean> {
    this.#gathered = true
    const seq = this.#nextSeq++
    const body = { model_id: this.modelId, seq_id: seq, forward_backward_input: input }
    const ids: unknown[] = []
    for (let time = 0; time < 2; time++) {
      const { requestId, answer } = await this.#futures.submit('/forward_backward', body)
      ids.push(requestId)
      await answer
    }
    return ids[0] !== undefined && ids[0] === ids[1]
  }

  /** The number that the next request will have. */
  get nextSeq(): number {
    return this.#nextSeq
  }

  forgetState(): void {
    this.#state?.remove()
  }

  /**
   * Gives the model back. A gradient that waits for its step is dropped first by a step of no length: SkyRL would add it
   * to the first step of the next model that gets the same place.
   */
  async unload(): Promise<void> {
    await this.#last
    if (this.#gathered) await this.step(NO_STEP).catch(() => undefined)
    await this.#futures.call('/unload_model', { model_id: this.modelId })
  }
}

export interface NewModel {
  sessionId: string
  baseModel: string
  /** Left out: every weight is trained. */
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
