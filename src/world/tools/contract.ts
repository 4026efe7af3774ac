import type { z } from 'zod'
import type { GrammarInput, Payload } from '../../language/grammar/index.ts'

export interface ToolContext {
  /** Fires when the caller has given up or the time is over. */
  signal: AbortSignal
  /** What the call may take. Only a tool with `ownTimeLimit` has to look at it. */
  timeoutMs?: number
  /** The question being worked on, where the caller told. */
  question?: string
  /** For costly parts of the work that are worth keeping by themselves. */
  cache?: OutputStore
}

export interface ToolOutput {
  /** What the model will read. */
  text: string
  /** Where it came from, for people and filters: addresses, ids, versions. */
  provenance?: Record<string, unknown>
  /** True when it must not be kept in the cache: a part of it failed, or what it was read from may change. */
  incomplete?: boolean
}

/** Where outputs are kept. A store that fails costs time, not the call: neither method may throw. */
export interface OutputStore {
  get(tool: string, key: unknown): ToolOutput | undefined
  set(tool: string, key: unknown, output: ToolOutput): void
}

type PayloadInput = NonNullable<GrammarInput['agents'][number]['payload']>

/** A tool agent: how it is written in a chain, what it takes, what it does. */
export interface Tool<Input = unknown> {
  /** Name of its agent in the grammar, such as web_search. */
  name: string
  /** What the model is told about it. */
  description: string
  /** How its payload is written. */
  payload: PayloadInput
  input: z.ZodType<Input>
  /** From the payload in the chain to its input, which `input` then checks. */
  fromPayload: (payload: Payload) => unknown
  /** True when the same input gives the same output for a while, so that it may be kept. */
  cacheable: boolean
  /**
   * What else the output depends on: how the tool was set up, or the question. Two tools of one name that are set up
   * differently must not find each other's outputs.
   */
  cacheScope?: (context: { question?: string }) => unknown
  /**
   * True when `execute` keeps to `timeoutMs` itself. For tools that first wait for something that is not part of the
   * call, such as an interpreter that has to be loaded: on a busy machine that wait alone would use up the time.
   */
  ownTimeLimit?: boolean
  execute(input: Input, context: ToolContext): Promise<ToolOutput>
}

/** What came of a call. A tool that fails is an outcome, not an exception: the model reads the reason and goes on. */
export interface ToolResult {
  ok: boolean
  /** The output, or in words what went wrong. */
  text: string
  tool: string
  cached: boolean
  attempts: number
  ms: number
  /** True when the output was longer than allowed and its middle was left out. */
  truncated: boolean
  /** What a filter may want to know, such as an output that repeats the question. */
  flags: string[]
  provenance: Record<string, unknown>
  /** True when it failed for a reason that is not in the call: a service out of reach, a tool that broke. */
  environment: boolean
  /** What a person could do about a failure; not for the model. */
  fix?: string
}
