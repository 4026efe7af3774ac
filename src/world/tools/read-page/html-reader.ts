import type { PageText } from './html-text.ts'
import type { HtmlRequest } from './html-worker.ts'
import { LimitedWorker } from './limited-worker.ts'
import { stripTags } from './strip-tags.ts'

const worker = new LimitedWorker<HtmlRequest, never, PageText | undefined>('html-worker', {
  workMs: 5_000,
  heapMb: 512,
  buffersMb: 256,
})

/**
 * Parses HTML in a worker thread, one page at a time. The libraries take minutes for some small pages (a few hundred
 * nested elements are enough): such a page runs into its time limit without blocking the process, and then falls back
 * to a simpler parser.
 */
export async function readHtml(html: string, url?: string, signal?: AbortSignal): Promise<PageText> {
  const page = await worker
    .run({ html, ...(url === undefined ? {} : { url }) }, signal)
    .catch(() => undefined)
  return page ?? stripTags(html, url)
}
