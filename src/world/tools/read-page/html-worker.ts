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
    // Nested too deeply for the libraries; the caller falls back to a simpler parser.
    send({ id, result: undefined })
  }
})
send({ ready: true })
