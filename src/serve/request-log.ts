import type { ServedTokens } from './usage.ts'

/** What is logged of a request. Neither keys nor anything that was said. */
export interface RequestLog {
  event: 'request'
  time: string
  id: string
  method: string
  path: string
  /** 499: the client went away. */
  status: number
  seconds: number
  /** Why the chains ended. */
  stops?: readonly string[]
  tokens?: ServedTokens
  error?: string
}
