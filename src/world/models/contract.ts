import type { z } from 'zod'
import type { Message } from '../../schema/index.ts'

interface CompletionSettings {
  temperature?: number
  maxTokens?: number
  seed?: number
  stop?: readonly string[]
  /** The start of the reply, which the model continues; not part of `text`. Only for models that can: see `continues`. */
  prefix?: string
  /** Streams the answer and receives each piece. After a retry it starts again from the beginning. */
  onText?: (piece: string) => void
  signal?: AbortSignal
}

/** A full conversation, or shorthand for a single prompt. */
export type CompletionPrompt = { messages: readonly Message[] } | { system?: string; prompt: string }

export type CompletionRequest = CompletionPrompt & CompletionSettings

export interface Completion {
  text: string
  /** The chain of thought, where a server returns it separately. */
  reasoning?: string
  /** Token counts reported by the server; zero if it reported none. */
  usage: { prompt: number; completion: number }
  /** Why generation ended: end of turn or stop text, token limit, content filter, or another reason. */
  finish: 'stop' | 'length' | 'filtered' | 'other'
  /** From the first attempt to the answer, not counting time in the queue. */
  ms: number
  /** Number of requests sent. */
  attempts: number
}

/** A chat model. Every failure is a ModelError, except an abort by the caller's own signal. */
export interface ChatModel {
  /** The name the server uses; part of cache keys. */
  readonly name: string
  /** Whether a request may have a `prefix`. */
  readonly continues?: boolean
  complete(request: CompletionRequest): Promise<Completion>
  /** With a schema, the answer is also parsed into an object that matches it. */
  complete<Shape extends z.ZodType>(
    request: CompletionRequest & { schema: Shape },
  ): Promise<Completion & { object: z.infer<Shape> }>
  /** Frees what the model holds on this machine, if anything. */
  close?(): Promise<void>
}

/** Maps texts to vectors; texts with similar meanings get nearby vectors. */
export interface Embedder {
  readonly name: string
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>
}

/** Timeout, retries and concurrency of requests. */
export interface RetryPolicy {
  /** Per attempt. */
  timeoutMs?: number
  /** Retries after transient failures. */
  retries?: number
  /** Maximum number of concurrent requests. */
  concurrency?: number
}

export interface Endpoint extends RetryPolicy {
  /** Including the version, such as http://localhost:8000/v1. */
  baseUrl: string
  model: string
  apiKey?: string
  headers?: Record<string, string>
}
