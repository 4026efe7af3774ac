import { parentPort } from 'node:worker_threads'
import { getDocumentProxy, getMeta, getResolvedPDFJS } from 'unpdf'
import type { WorkerMessage } from './limited-worker.ts'

export interface PdfRequest {
  bytes: Uint8Array
  mostPages: number
  mostCharacters: number
}

/** The title first, then the text of one page after another. */
export type PdfPart = { title: string; pages: number } | { text: string }

/** Why a document cannot be read; undefined where it was read as far as the limits allow. */
export type PdfResult = { problem?: string }

type Document = Awaited<ReturnType<typeof getDocumentProxy>>

// Part of the start, not of the first document's time.
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

async function read(request: PdfRequest, tell: (part: PdfPart) => void): Promise<void> {
  const document = await getDocumentProxy(request.bytes, { verbosity: 0 })
  try {
    const { Title: title } = (await getMeta(document)).info as { Title?: unknown }
    tell({ title: typeof title === 'string' ? title.trim() : '', pages: document.numPages })
    let characters = 0
    for (let number = 1; number <= Math.min(document.numPages, request.mostPages); number++) {
      const text = await pageText(document, number)
      tell({ text: text.slice(0, request.mostCharacters - characters) })
      characters += text.length
      if (characters >= request.mostCharacters) return
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
