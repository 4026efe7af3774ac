import type { LoraSettings } from '../embedded/llama/lora.ts'
import type { Exchange } from './wire.ts'

export interface TinkerOptions {
  /** Where the server answers, such as http://localhost:8000. */
  url: string
  key?: string
  /**
   * The folder to begin with: a whole model, or the adapter of a checkpoint, which is put on its base. Left out: a model of
   * the server.
   */
  model?: string
  /** Without `model`: one of the server's models; left out: its first. */
  baseModel?: string
  /** Left out: every weight is trained, where the server can. */
  lora?: Pick<LoraSettings, 'rank' | 'seed'> & { alpha?: number }
  /**
   * A folder with config.json and tokenizer of the model: for stopping at texts, and for what a server does not tell.
   * Default: `model`.
   */
  tokenizer?: string
  /** For servers that do not tell. */
  contextLength?: number
  vocabularySize?: number
  /**
   * Measure what the server does with losses, on a model of its own. Default: on every server but our trainer, whose
   * behaviour is written down and tested. False: take it for a server like ours.
   */
  probe?: boolean
  /** A file that keeps what a client needs to go on after it was killed. */
  state?: string
  /** How passes travel. Default: JSON, and the binary form on servers that want it. */
  encoding?: 'json' | 'protobuf'
  /** For one attempt; default 120 s. */
  timeoutMs?: number
  /** How long a server that cannot be reached or is in trouble is asked again; default 30 s. */
  patienceMs?: number
  /** Told what is being done and, line by line, what the probe found. */
  observe?: (line: string) => void
  /** Told of every exchange with the server. */
  onAnswer?: (exchange: Exchange) => void
}
