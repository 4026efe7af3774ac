import type { Sample, SampleRequest } from '../../contract.ts'
import type { StopRules } from '../../stop-rules.ts'

/** A mask may have to be fetched from another thread. */
type Allowed = (tokens: readonly number[], sample: number) => MaybeMask | Promise<MaybeMask>
type MaybeMask = Uint8Array | undefined

export type SamplerRequest = Omit<SampleRequest, 'allowed'> & { allowed?: Allowed }

/** One continuation on its way. */
export interface Job {
  request: SamplerRequest
  number: number
  /** The prompt and what was sampled. */
  tokens: number[]
  promptLength: number
  /** Places at the front whose keys and values are in the cache. */
  computed: number
  reused: number
  logprobs: number[]
  modelLogprobs: number[]
  random: () => number
  stops: StopRules
  resolve: (sample: Sample) => void
  reject: (cause: unknown) => void
}
