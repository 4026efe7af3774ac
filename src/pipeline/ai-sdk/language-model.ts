/*
 * What the AI SDK calls and what it gets, in version 3 of its interface for language models, which AI SDK 6 and 7 accept. Written
 * out because the two versions differ in details of types that a chain never uses, and so that our declarations need neither.
 */

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
type Metadata = Record<string, Record<string, Json>>

type PromptMessage =
  | { role: 'system'; content: string }
  | { role: 'user' | 'assistant'; content: { type: string; text?: string; mediaType?: string }[] }
  | { role: 'tool'; content: unknown[] }

/** One call by the AI SDK. */
export interface ModelCall {
  prompt: PromptMessage[]
  maxOutputTokens?: number | undefined
  temperature?: number | undefined
  topP?: number | undefined
  topK?: number | undefined
  seed?: number | undefined
  abortSignal?: AbortSignal | undefined
  stopSequences?: string[] | undefined
  presencePenalty?: number | undefined
  frequencyPenalty?: number | undefined
  responseFormat?: { type: string } | undefined
  tools?: unknown[] | undefined
  toolChoice?: { type: string } | undefined
  /** AI SDK 7 passes it to models of version 3, too. */
  reasoning?: string | undefined
}

export type ModelWarning =
  | { type: 'unsupported'; feature: string; details?: string }
  | { type: 'other'; message: string }

interface ToolCallPart {
  type: 'tool-call'
  toolCallId: string
  toolName: string
  /** As JSON. */
  input: string
  providerExecuted: true
  dynamic: true
}

interface ToolResultPart {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  result: string
  isError: boolean
  dynamic: true
  providerMetadata: Metadata
}

export type ModelContent =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string; providerMetadata?: Metadata }
  | ToolCallPart
  | ToolResultPart

interface Finish {
  finishReason: { unified: 'stop' | 'length'; raw: string }
  usage: {
    inputTokens: { total: number; noCache: number; cacheRead: undefined; cacheWrite: undefined }
    outputTokens: { total: number; text: number; reasoning: number }
    raw: Record<string, Json>
  }
  providerMetadata: Metadata
}

interface ModelResponse {
  id: string
  timestamp: Date
  modelId: string
}

export type ModelPart =
  | { type: 'stream-start'; warnings: ModelWarning[] }
  | ({ type: 'response-metadata' } & ModelResponse)
  | { type: 'text-start' | 'reasoning-start'; id: string; providerMetadata?: Metadata }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'text-end' | 'reasoning-end'; id: string }
  | ToolCallPart
  | ToolResultPart
  | ({ type: 'finish' } & Finish)

export interface ModelResult extends Finish {
  content: ModelContent[]
  warnings: ModelWarning[]
  response: ModelResponse
}

/** A model for the AI SDK. Its tools and weights stay open until it is closed. */
export interface ChainOfAgentsModel {
  readonly specificationVersion: 'v3'
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls: Record<string, RegExp[]>
  doGenerate(call: ModelCall): Promise<ModelResult>
  doStream(call: ModelCall): Promise<{ stream: ReadableStream<ModelPart> }>
  close(): Promise<void>
}
