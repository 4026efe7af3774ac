import type { Json } from './contract.ts'

/** One message of a chat, whatever the dialect it was written in. */
export interface ChatTurn {
  role: 'system' | 'user' | 'assistant' | 'tool'
  /** Who wrote it, where the dialect says so. */
  name?: string
  /** Its words, without thoughts, calls and results. */
  text: string
  thought?: string
  /** A model was sent it but none wrote it in this run: an example, or what a framework made of something else. */
  isContext?: true
  calls: readonly ChatCall[]
  results: readonly ChatResult[]
}

export interface ChatCall {
  id?: string
  tool: string
  input: Json
}

export interface ChatResult {
  id?: string
  tool?: string
  output: string
  ok?: boolean
}

/** Identifies a turn among those of a conversation, so that one that is sent again is recognized. Thoughts are often dropped then. */
export function turnKey({ role, text, calls, results }: ChatTurn): string {
  const inputs = calls.map(({ id, tool, input }) => [id ?? '', tool, input])
  const outputs = results.map(({ id, output }) => [id ?? '', output])
  return JSON.stringify([role, text.trim(), inputs, outputs])
}
