import type { PageText } from './html-text.ts'
import type { HtmlRequest } from './html-worker.ts'
import { LimitedWorker } from './limited-worker.ts'
import { strippedText } from './stripped-text.ts'

const worker = new LimitedWorker<HtmlRequest, never, PageText | undefined>('html-worker', {
  workMs: 5_000,
  heapMb: 512,
  buffersMb: 256,
})

/**
 * Reads HTML in a thread of its own, page after page. The libraries take minutes for some small pages (a few hundred
 * nested elements are enough): such a page costs its time limit, not the process, and is read by a simpler way.
 */
export async function readHtml(html: string, url?: string, signal?: AbortSignal): Promise<PageText> {
  const page = await worker
    .run({ html, ...(url === undefined ? {} : { url }) }, signal)
    .catch(() => undefined)
  return page ?? strippedText(html, url)
}
