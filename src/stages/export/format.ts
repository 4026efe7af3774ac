import type { EncodedStream } from '../../language/tokens/index.ts'
import type { Stream, Task } from '../../schema/index.ts'
import type { ParquetType } from '../../store/index.ts'
import type { Reading } from './segments.ts'

/** One line of a JSONL file or one row of a Parquet file. */
export type Row = Record<string, unknown>

interface FormatBase {
  name: string
  /** The trainer that reads it, and the variant. */
  title: string
  /** Undefined: JSON lines. */
  columns?: Record<string, ParquetType>
  /** How to configure the trainer, as Markdown. */
  guide: string
  /** How the trainer decides what is trained on; `coa export --check` applies the same rule. */
  rule: string
  /** How training on the file differs from training on the sequences, with any tokenizer. */
  differences: readonly string[]
  /** Additional files, such as dataset_info.json. */
  companions?: Record<string, string>
}

/** Contains text; the trainer tokenizes it and derives the mask by its own rule. */
export interface TextFormat extends FormatBase {
  carries: 'text'
  file: string
  /** Why a sequence cannot be represented so that exactly the same text is trained on. */
  refuse: (sequence: Stream) => string | undefined
  toRow: (sequence: Stream) => Row
  /** The trainer's rule, applied to a row. */
  fromRow: (row: Row) => Reading
  /** The trainer tokenizes all parts as one piece, so tokens can straddle their borders. */
  straddles?: boolean
  /** True if observations are trained on because the format cannot mask them. */
  trainsObservations?: boolean
}

/** Contains token ids and coa's mask: the trainer decides nothing. */
export interface TokenFormat extends FormatBase {
  carries: 'tokens'
  file: string
  toRow: (sequence: Stream, encoded: EncodedStream) => Row
  fromRow: (row: Row) => TokenReading
}

export interface TokenReading {
  ids: number[]
  /** 1 where the token is trained on. */
  mask: number[]
}

/** Contains questions for reinforcement learning. */
export interface TaskFormat extends FormatBase {
  carries: 'tasks'
  file: (task: Task) => string
}

export type Format = TextFormat | TokenFormat | TaskFormat
