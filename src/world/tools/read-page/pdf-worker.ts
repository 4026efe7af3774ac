import { parentPort } from 'node:worker_threads'
import { getDocumentProxy, getMeta, getResolvedPDFJS } from 'unpdf'
import type { WorkerMessage } from './limited-worker.ts'

export interface PdfRequest {
  bytes: Uint8Array
  maxPages: number
  maxCharacters: number
}

/** The title first, then the text of each page. */
export type PdfPart = { title: string; pages: number } | { text: string }

/** Why a document cannot be read; undefined if it was read within the limits. */
export type PdfResult = { problem?: string }

type Document = Awaited<ReturnType<typeof getDocumentProxy>>

// Loaded at startup, so that it does not count toward the first document's time.
await getResolvedPDFJS()

const send = (message: WorkerMessage<PdfPart, PdfResult>): void => parentPort?.postMessage(message)

parentPort?.on('message', async ({ id, request }: { id: number; request: PdfRequest }) => {
  try {
    await read(request, (part) => send({ id, part }))
    send({ id, result: {} })
  } catch (error) {
    send({ id, result: { problem: (error as Error).message } })
  }
})
send({ ready: true })

async function read(request: PdfRequest, onPart: (part: PdfPart) => void): Promise<void> {
  const document = await getDocumentProxy(request.bytes, { verbosity: 0 })
  try {
    const { Title: title } = (await getMeta(document)).info as { Title?: unknown }
    onPart({ title: typeof title === 'string' ? title.trim() : '', pages: document.numPages })
    let characters = 0
    for (let number = 1; number <= Math.min(document.numPages, request.maxPages); number++) {
      const text = await pageText(document, number)
      onPart({ text: text.slice(0, request.maxCharacters - characters) })
      characters += text.length
      if (characters >= request.maxCharacters) return
    }
  } finally {
    await document.loadingTask.destroy()
  }
}

async function pageText(document: Document, number: number): Promise<string> {
  const page = await document.getPage(number)
  try {
    const { items } = await page.getTextContent()
    return items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('')
  } finally {
    page.cleanup()
  }
}
