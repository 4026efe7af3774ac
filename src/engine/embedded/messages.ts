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
  SaveOptions,
  TrainingExample,
} from '../contract.ts'
import type { EmbeddedOptions } from './embedded-core.ts'
import type { PassLoss } from './training/pass-loss.ts'

/** Calls to the engine's thread and their results. */
export interface Calls {
  open: { args: EmbeddedOptions; result: EngineDescription }
  sample: { args: WireSampleRequest; result: Sample[] }
  pass: { args: { examples: readonly TrainingExample[]; passLoss: PassLoss }; result: PassResult }
  optimStep: { args: AdamSettings; result: OptimResult }
  save: {
    args: { folder: string; note: CheckpointNote; options: SaveOptions | undefined }
    result: undefined
  }
  load: { args: { folder: string; options: LoadOptions | undefined }; result: undefined }
  close: { args: undefined; result: undefined }
}
export type CallName = keyof Calls

/** A request without callbacks, which cannot be sent to another thread; flags say which ones exist. */
export interface WireSampleRequest extends Omit<SampleRequest, 'allowed' | 'onToken' | 'signal'> {
  hasMask: boolean
  streamsTokens: boolean
}

export type ToWorker =
  | { kind: 'call'; id: number; name: CallName; args: unknown }
  | { kind: 'abort'; id: number }
  | { kind: 'mask'; maskId: number; mask: Uint8Array | undefined; failure?: string }

export type FromWorker =
  | { kind: 'result'; id: number; result: unknown }
  | { kind: 'failure'; id: number; failure: Failure }
  | { kind: 'token'; id: number; token: number; sample: number }
  /** What opening is doing, if it takes long. */
  | { kind: 'status'; id: number; line: string }
  | { kind: 'allowed'; id: number; maskId: number; tokens: readonly number[]; sample: number }

/** A serialized error: classes do not survive the transfer. */
export interface Failure {
  name: string
  message: string
  boundary?: string
  options?: Omit<CoaErrorOptions, 'cause'>
}
