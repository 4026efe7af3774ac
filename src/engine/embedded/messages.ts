import type { CoaErrorOptions } from '../../base/errors/index.ts'
import type {
  AdamSettings,
  CheckpointNote,
  EngineDescription,
  LoadOptions,
  OptimResult,
  PassResult,
  Sample,
  SampleRequest,
  TrainingExample,
} from '../contract.ts'
import type { EmbeddedOptions } from './embedded-core.ts'
import type { Aim } from './training/aim.ts'

/** What can be asked of the engine's thread, with what it answers. */
export interface Calls {
  open: { args: EmbeddedOptions; result: EngineDescription }
  sample: { args: WireSampleRequest; result: Sample[] }
  pass: { args: { examples: readonly TrainingExample[]; aim: Aim }; result: PassResult }
  optimStep: { args: AdamSettings; result: OptimResult }
  save: { args: { folder: string; note: CheckpointNote }; result: undefined }
  load: { args: { folder: string; options: LoadOptions | undefined }; result: undefined }
  close: { args: undefined; result: undefined }
}
export type CallName = keyof Calls

/** A request without what cannot go to another thread; what it wants to be asked or told is noted instead. */
export interface WireSampleRequest extends Omit<SampleRequest, 'allowed' | 'onToken' | 'signal'> {
  asksAllowed: boolean
  tellsTokens: boolean
}

export type ToWorker =
  | { kind: 'call'; id: number; name: CallName; args: unknown }
  | { kind: 'abort'; id: number }
  | { kind: 'mask'; question: number; mask: Uint8Array | undefined; failure?: string }

export type FromWorker =
  | { kind: 'result'; id: number; result: unknown }
  | { kind: 'failure'; id: number; failure: Failure }
  | { kind: 'token'; id: number; token: number; sample: number }
  | { kind: 'allowed'; id: number; question: number; tokens: readonly number[]; sample: number }

/** An error as it travels: classes do not survive the way. */
export interface Failure {
  name: string
  message: string
  boundary?: string
  options?: Omit<CoaErrorOptions, 'cause'>
}
