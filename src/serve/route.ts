import type { Exchange } from './exchange.ts'

/** What the server does for a method and a path. */
export interface Route {
  method: 'GET' | 'POST' | 'DELETE'
  /** Of the whole path. Its group, if any, is the id of what is asked for. */
  path: RegExp
  /** As it is counted. */
  endpoint: string
  /** Anyone may ask. */
  open?: boolean
  handle: (exchange: Exchange, id: string) => Promise<void> | void
}
