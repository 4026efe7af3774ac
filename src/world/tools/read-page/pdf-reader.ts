import { ToolError } from '../../../base/errors/index.ts'
import type { PageText } from './html-text.ts'
import { LimitedWorker } from './limited-worker.ts'
import type { PdfPart, PdfRequest, PdfResult } from './pdf-worker.ts'

const MAX_PAGES = 500
const MAX_CHARACTERS = 1_000_000

const worker = new LimitedWorker<PdfRequest, PdfPart, PdfResult>('pdf-worker', {
  workMs: 5_000,
  heapMb: 256,
  buffersMb: 256,
})

/**
 * Extracts the text of a PDF in a worker thread: a PDF of a few kilobytes can take hours and gigabytes. If a limit is
 * reached, the pages read so far are kept and a note is appended.
 */
export async function readPdf(bytes: Uint8Array, url: string, signal?: AbortSignal): Promise<PageText> {
  const request = { bytes: Uint8Array.from(bytes), maxPages: MAX_PAGES, maxCharacters: MAX_CHARACTERS }
  const read: string[] = []
  let title = ''
  let pages = 0
  const problem = await worker
    .run(request, signal, (part) => {
      if ('text' in part) read.push(part.text)
      else ({ title, pages } = part)
    })
    .then(
      (result) => result.problem,
      (error: Error) => {
        signal?.throwIfAborted()
        return `it ${error.message}`
      },
    )
  const text = tidy(read.join('\n'))
  if (text === '') {
    const reason = problem ?? 'it has no text; its pages may be images'
    throw new ToolError(`${url} is a PDF that cannot be read: ${reason}`)
  }
  const why = problem === undefined ? '' : `: ${problem}`
  const note = read.length < pages ? `\n[… ${read.length} of ${pages} pages were read${why} …]` : ''
  return { title: title === '' ? url : title, text: text + note }
}

/** Collapses runs of spaces and blank lines. */
function tidy(text: string): string {
  return text
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}
