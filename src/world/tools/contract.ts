import type { z } from 'zod'
import type { GrammarInput, Payload } from '../../language/grammar/index.ts'

export interface ToolContext {
  /** Aborted when the caller gives up or the time limit is reached. */
  signal: AbortSignal
  /** Time limit of the call. Only a tool with `ownTimeLimit` has to enforce it. */
  timeoutMs?: number
  /** The current question, if the caller provided it. */
  question?: string
  /** For expensive intermediate results that are worth caching separately. */
  cache?: OutputStore
}

export interface ToolOutput {
  /** The text shown to the model. */
  text: string
  /** Where it came from, for people and filters: URLs, ids, versions. */
  provenance?: Record<string, unknown>
  /** True if it must not be cached: a part of it failed, or its source may change. */
  incomplete?: boolean
}

/** A cache of tool outputs. A failing cache costs time, not the call: neither method may throw. */
export interface OutputStore {
  get(tool: string, key: unknown): ToolOutput | undefined
  set(tool: string, key: unknown, output: ToolOutput): void
}

type PayloadInput = NonNullable<GrammarInput['agents'][number]['payload']>

/** A tool agent: its payload syntax, its input and what it does. */
export interface Tool<Input = unknown> {
  /** Name of its agent in the grammar, such as web_search. */
  name: string
  /** The description shown to the model. */
  description: string
  /** The payload syntax. */
  payload: PayloadInput
  input: z.ZodType<Input>
  /** Converts the payload to an input, which `input` then validates. */
  fromPayload: (payload: Payload) => unknown
  /** True if the same input gives the same output for some time, so that it can be cached. */
  cacheable: boolean
  /**
   * What else the output depends on: the tool's configuration, or the question. Two tools with the same name but
   * different configurations must not share cached outputs.
   */
  cacheScope?: (context: { question?: string }) => unknown
  /**
   * True if `execute` enforces `timeoutMs` itself. For tools that first wait for something outside the call, such as
   * loading an interpreter: on a busy machine that wait alone could exceed the limit.
   */
  ownTimeLimit?: boolean
  execute(input: Input, context: ToolContext): Promise<ToolOutput>
}

/** The result of a call. A failing tool is a result, not an exception: the model reads the reason and continues. */
export interface ToolResult {
  ok: boolean
  /** The output, or an error message. */
  text: string
  tool: string
  cached: boolean
  attempts: number
  ms: number
  /** True if the output exceeded the limit and its middle was cut. */
  truncated: boolean
  /** Information for filters, such as output that repeats the question. */
  flags: string[]
  provenance: Record<string, unknown>
  /** True if it failed for a reason outside the call: an unreachable service, a broken tool. */
  environment: boolean
  /** What the user can do about a failure; not shown to the model. */
  fix?: string
}
