import type { EncodedStream } from '../../language/tokens/index.ts'
import type { Stream, Task } from '../../schema/index.ts'
import type { ParquetType } from '../../store/index.ts'
import type { Reading } from './segments.ts'

/** One line of a JSONL file or one row of a Parquet file. */
export type Row = Record<string, unknown>

interface FormatBase {
  name: string
  /** The trainer that reads it, and in which form. */
  title: string
  /** Undefined: JSON lines. */
  columns?: Record<string, ParquetType>
  /** How a trainer is told to read the files, as Markdown. */
  guide: string
  /** How the trainer decides what is trained on: the rule `coa export --check` reads the file back by. */
  rule: string
  /** Where training on the file differs from training on the sequences, whatever the tokenizer. */
  differences: readonly string[]
  /** Files that go with the data, such as dataset_info.json. */
  companions?: Record<string, string>
}

/** Carries text; the trainer encodes it and derives the mask by its own rule. */
export interface TextFormat extends FormatBase {
  carries: 'text'
  file: string
  /** Why a sequence cannot be expressed so that exactly the same text is trained on. */
  refuse: (sequence: Stream) => string | undefined
  toRow: (sequence: Stream) => Row
  /** The trainer's rule, applied to a row. */
  fromRow: (row: Row) => Reading
  /** The text of each part is encoded by the trainer as one piece, so tokens can straddle its borders. */
  straddles?: boolean
  /** True where observations are trained on: the format has no way to mask them. */
  trainsObservations?: boolean
}

/** Carries token ids and our own mask: nothing is left for the trainer to decide. */
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

/** Carries questions for reinforcement learning. */
export interface TaskFormat extends FormatBase {
  carries: 'tasks'
  file: (task: Task) => string
}

export type Format = TextFormat | TokenFormat | TaskFormat
