import type { Sample, SampleRequest } from '../../contract.ts'
import type { StopConditions } from '../../stop-conditions.ts'

/** The mask may come from another thread. */
type Allowed = (tokens: readonly number[], sample: number) => MaybeMask | Promise<MaybeMask>
type MaybeMask = Uint8Array | undefined

export type SamplerRequest = Omit<SampleRequest, 'allowed'> & { allowed?: Allowed }

/** A sequence being sampled. */
export interface Job {
  request: SamplerRequest
  number: number
  /** The prompt and the sampled tokens. */
  tokens: number[]
  promptLength: number
  /** Number of leading tokens whose keys and values are in the cache. */
  computed: number
  reused: number
  logprobs: number[]
  modelLogprobs: number[]
  /** Of the weights, for each sampled token. */
  versions: number[]
  random: () => number
  stops: StopConditions
  resolve: (sample: Sample) => void
  reject: (cause: unknown) => void
}
