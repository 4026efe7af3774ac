import type { ToolResult } from '../../world/tools/index.ts'

/** A thought and the message that follows it. */
export interface ExpertMessage {
  thought: string
  text: string
}

/** The next action: an order to a worker, and the call that worker will make. */
export interface Order extends ExpertMessage {
  tool: string
  callThought: string
  call: string
}

/**
 * Knows how a generated task is solved and plays every agent of a team, but takes every value from tool output: if a
 * tool returns nothing, the expert knows nothing.
 */
export interface Expert {
  /** What the question says, and what has to be found out. */
  facts(): ExpertMessage
  plan(): ExpertMessage
  /** An order, or a suggested answer. */
  next(): Order | ExpertMessage
  report(result: ToolResult): ExpertMessage
  reflect(): ExpertMessage
  check(suggestion: string): ExpertMessage
  answer(suggestion: string): ExpertMessage
}

/** How reliable a team is; each value is a probability. */
export interface Dials {
  /** A step goes wrong: a misspelled name, a misread value, an overlooked case. */
  slip: number
  /** A reviewer notices that a step went wrong. */
  notice: number
  /** An unnecessary call is made. */
  detour: number
  /** The same call is made again. */
  repeat: number
  /** A correct answer is rejected at first. */
  doubt: number
  /** Everything is computed once more before answering. */
  recheck: number
  /** The team gives up before it has an answer. */
  giveUp: number
}
