import type { Observe } from '../../base/progress/index.ts'
import type { LoraSettings } from '../embedded/llama/lora.ts'
import type { PassEncoding } from './model-session.ts'
import type { Exchange } from './wire.ts'

export interface TinkerOptions {
  /** Server URL, such as http://localhost:8000. */
  url: string
  key?: string
  /**
   * The folder to start from: a full model, or an adapter checkpoint, which is applied to its base. Default: a model of the
   * server.
   */
  model?: string
  /** Without `model`: one of the server's models; default: the first. */
  baseModel?: string
  /** Default: full fine-tune, if the server supports it. */
  lora?: Pick<LoraSettings, 'rank' | 'seed'> & { alpha?: number }
  /**
   * A folder with the model's config.json and tokenizer: for stop strings, and for what a server does not report. Default:
   * `model`.
   */
  tokenizer?: string
  /** For servers that do not report them. */
  contextLength?: number
  vocabularySize?: number
  /**
   * Measure how the server treats losses, on a scratch model. Default: on every server but our trainer, whose behavior is
   * documented and tested. False: assume that it behaves like ours.
   */
  probe?: boolean
  /** A state file that lets a restarted client resume. */
  state?: string
  /** Encoding of passes. Default: binary columns on our trainer; JSON elsewhere, or protobuf where it is required. */
  encoding?: PassEncoding
  /** Timeout per attempt; default 120 s. */
  timeoutMs?: number
  /** How long to retry when the server is unreachable or failing; default 30 s. */
  patienceMs?: number
  /** Called with progress and, line by line, the results of the probe. */
  observe?: (line: string) => void
  /** Called with the progress of loading a model and of transfers to and from a server on another machine. */
  progress?: Observe
  /** Called with every exchange with the server. */
  onAnswer?: (exchange: Exchange) => void
}
