import type { z } from 'zod'
import type { Message } from '../../schema/index.ts'

interface CompletionSettings {
  temperature?: number
  maxTokens?: number
  seed?: number
  stop?: readonly string[]
  /** Has the answer streamed, and is given each piece as it comes. After a failure it starts anew. */
  onText?: (piece: string) => void
  signal?: AbortSignal
}

/** A whole conversation, or the usual short form of one. */
export type CompletionPrompt = { messages: readonly Message[] } | { system?: string; prompt: string }

export type CompletionRequest = CompletionPrompt & CompletionSettings

export interface Completion {
  text: string
  /** Tokens as the server counted them; zero where it did not say. */
  usage: { prompt: number; completion: number }
  /** Why it ended: by itself or at a stop text, at the token limit, held back, or for another reason. */
  finish: 'stop' | 'length' | 'filtered' | 'other'
  /** From the first attempt to the answer, waiting for a free place not counted. */
  ms: number
  /** Requests it took. */
  attempts: number
}

/** A model that answers. Every failure is a ModelError, except that of the caller's own signal. */
export interface ChatModel {
  /** As the server knows it; part of cache keys. */
  readonly name: string
  complete(request: CompletionRequest): Promise<Completion>
  /** With a schema the answer is also read as an object that fits it. */
  complete<Shape extends z.ZodType>(
    request: CompletionRequest & { schema: Shape },
  ): Promise<Completion & { object: z.infer<Shape> }>
}

/** Turns texts into vectors whose nearness means nearness in meaning. */
export interface Embedder {
  readonly name: string
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>
}

/** How hard to try, and how much at a time. */
export interface Patience {
  /** For one attempt. */
  timeoutMs?: number
  /** Attempts after the first, for failures that may pass. */
  retries?: number
  /** Requests at the same time. */
  concurrency?: number
}

export interface Endpoint extends Patience {
  /** Up to and including the version, such as http://localhost:8000/v1. */
  baseUrl: string
  model: string
  apiKey?: string
  headers?: Record<string, string>
}
