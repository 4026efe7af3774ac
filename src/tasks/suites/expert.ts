import type { ToolResult } from '../../world/tools/index.ts'

/** A thought, and what is said after it. */
export interface Words {
  thought: string
  text: string
}

/** What is to be done next: an order to the worker with a tool, and the words that worker will give its tool. */
export interface Order extends Words {
  tool: string
  callThought: string
  call: string
}

/**
 * Knows how a generated task is solved and plays everyone in a team, but learns every value from what the tools
 * answer: where a tool gives nothing, the expert has nothing.
 */
export interface Expert {
  /** What the question gives, and what has to be found out. */
  facts(): Words
  plan(): Words
  /** An order, or a suggested answer. */
  next(): Order | Words
  report(result: ToolResult): Words
  reflect(): Words
  check(suggestion: string): Words
  answer(suggestion: string): Words
}

/** How good a team is; each is a chance from 0 to 1. */
export interface Dials {
  /** A step goes wrong: a misspelt name, a misread value, an overlooked case. */
  slip: number
  /** Whoever looks back sees that a step went wrong. */
  notice: number
  /** A call that was not needed. */
  detour: number
  /** The same call again. */
  repeat: number
  /** A right answer is not believed at first. */
  doubt: number
  /** The whole is computed once more before the end. */
  recheck: number
  /** The work is left before its end. */
  giveUp: number
}
