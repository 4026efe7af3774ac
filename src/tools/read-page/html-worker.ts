import { parentPort } from 'node:worker_threads'
import { htmlText, type PageText } from './html-text.ts'

export interface HtmlRequest {
  id: number
  html: string
  url?: string
}

/** Without an id: the libraries are loaded. */
export type HtmlReply = { id?: never } | { id: number; page?: PageText }

parentPort?.on('message', ({ id, html, url }: HtmlRequest) => {
  let reply: HtmlReply
  try {
    reply = { id, page: htmlText(html, url) }
  } catch {
    // Too deep for the libraries; the reader has a simpler way.
    reply = { id }
  }
  parentPort?.postMessage(reply)
})
parentPort?.postMessage({} satisfies HtmlReply)
