import { parentPort } from 'node:worker_threads'
import { htmlText, type PageText } from './html-text.ts'
import type { WorkerMessage } from './limited-worker.ts'

export interface HtmlRequest {
  html: string
  url?: string
}

const send = (message: WorkerMessage<never, PageText | undefined>): void => parentPort?.postMessage(message)

parentPort?.on('message', ({ id, request }: { id: number; request: HtmlRequest }) => {
  try {
    send({ id, result: htmlText(request.html, request.url) })
  } catch {
    // Too deep for the libraries; the reader has a simpler way.
    send({ id, result: undefined })
  }
})
send({ ready: true })
