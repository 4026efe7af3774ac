import type { Contribution } from '../schema/index.ts'
import type { Usage } from '../schema/usage.ts'
import type { LeftOut } from './left-out.ts'
import { textsIn, unread } from './unread.ts'

export type { LeftOut }

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** One value of a log file: a line of JSON Lines, the content or an item of a JSON file, or the text of another file. */
export interface LogRecord {
  value: unknown
  /** File and line or item, for messages. */
  where: string
}

/** A format of logs. Each is one file in `formats`, with a fixture and properties in `test/logs`. */
export interface LogFormat {
  /** As given to `coa import --format`. */
  name: string
  /** Where such logs come from. */
  title: string
  /** Tells whether a value looks like this format. The first format in the list that says so reads the file. */
  matches: (value: unknown) => boolean
  /** Whether a value that does not look like it belongs to its runs all the same, such as an event of another kind. */
  takes?: (value: unknown) => boolean
  /** The runs in these records, and the records that could not be read. */
  read: (records: AsyncIterable<LogRecord>) => AsyncIterable<LoggedRun | Unreadable>
  /** What this format's text consists of besides words, such as tags and labels; not reported as left out. */
  markup?: RegExp
}

export interface Unreadable {
  where: string
  problem: string
  /** What the user can add so that it can be read, such as a map. */
  rule?: string
}

/** One run of an agent system, as a log tells it. */
export interface LoggedRun {
  where: string
  /** Its id in the log. */
  id?: string
  question?: string
  /** Gold answers, if the log has them. */
  gold?: readonly string[]
  /** Whether the log says that the answer is correct. */
  correct?: boolean
  /** The final answer, where no item says so. */
  answer?: string
  /** Tools that were offered, used or not. */
  tools?: readonly LoggedTool[]
  /** What happened, in order. */
  items: readonly LoggedItem[]
  /** The values this run was read from. Text in them that is not in the run is reported as left out. */
  source: readonly unknown[]
  /** Text that is left out on purpose. */
  leftOut?: readonly LeftOut[]
  meta?: Readonly<Record<string, Json>>
}

export interface LoggedTool {
  name: string
  description?: string
  /** A JSON Schema. */
  parameters?: Json
}

export type LoggedItem = {
  agent: string
  /** When it happened, in milliseconds since any point in time. */
  at?: number
} & (
  | /** What the agent is asked or told. */
  { type: 'prompted'; messages: readonly { role: string; content: string }[] }
  /** What the agent writes, verbatim; its thought and what it said are parts of it that the log tells apart. */
  | {
      type: 'wrote'
      text: string
      thought?: string
      said?: { as: Contribution; text: string }
      usage?: Usage
    }
  /** `call` is the id that pairs a call with its result. */
  | { type: 'called'; tool: string; input: Json; call?: string }
  | { type: 'returned'; output: string; call?: string; tool?: string; ok?: boolean }
  | { type: 'sent'; to: string; text: string }
  | { type: 'answered'; text: string }
  /** `unreadable` if not the run failed but the reader, at this text; distillation reports it as a problem. */
  | { type: 'failed'; message: string; unreadable?: boolean }
)

/** A run in a record. One of several in a record names the part of it that it was read from as its source. */
export type RunInRecord = Omit<LoggedRun, 'where' | 'source'> & Partial<Pick<LoggedRun, 'source'>>

/** What a record says that none of the parts says which its runs were read from. */
function besideRuns(value: unknown, runs: readonly RunInRecord[]): LeftOut[] {
  const sources = runs.flatMap(({ source }) => source ?? [value])
  return sources.includes(value) ? [] : unread([value], textsIn([sources, runs]))
}

/** A reader for formats in which every record is a run, or several. A record it throws on is reported, and the rest continues. */
export function eachRecord(
  read: (value: unknown) => RunInRecord | readonly RunInRecord[],
): LogFormat['read'] {
  return async function* (records) {
    for await (const { value, where } of records) {
      try {
        const found = read(value)
        const runs: readonly RunInRecord[] = Array.isArray(found) ? found : [found]
        if (runs.length === 0) yield { where, problem: 'there is no run in it' }
        const beside = besideRuns(value, runs)
        for (const [index, run] of runs.entries()) {
          const { leftOut = [] } = run
          yield {
            source: [value],
            ...run,
            where,
            ...(index === 0 ? { leftOut: [...leftOut, ...beside] } : {}),
          }
        }
      } catch (error) {
        yield { where, problem: (error as Error).message }
      }
    }
  }
}
