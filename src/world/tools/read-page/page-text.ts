import { ToolError } from '../../../base/errors/index.ts'
import type { FetchedPage } from './fetch-page.ts'
import { readHtml } from './html-reader.ts'
import type { PageText } from './html-text.ts'
import { readPdf } from './pdf-reader.ts'

/** Extracts the text of a page, by content type. */
export async function pageText(page: FetchedPage, signal?: AbortSignal): Promise<PageText> {
  const type = page.contentType.split(';')[0]!.trim().toLowerCase()
  const start = page.body.subarray(0, 1024).toString('latin1')
  if (type === 'application/pdf' || start.startsWith('%PDF-')) return readPdf(page.body, page.url, signal)
  if (
    type === 'text/html' ||
    type === 'application/xhtml+xml' ||
    (type === '' && /<html|<!doctype html/i.test(start))
  ) {
    return readHtml(decode(page), page.url, signal)
  }
  if (type === '' || type.startsWith('text/') || /[/+](json|xml)$/.test(type))
    return { title: page.url, text: decode(page) }
  throw new ToolError(`${page.url} is ${type}, which cannot be read as text`)
}

/** Uses the charset of the header, else of the page, else UTF-8. */
function decode({ contentType, body }: FetchedPage): string {
  const declared =
    /charset=["']?([\w-]+)/i.exec(contentType) ??
    /<meta[^>]{0,200}charset=["']?([\w-]+)/i.exec(body.subarray(0, 2048).toString('latin1'))
  try {
    return new TextDecoder(declared?.[1] ?? 'utf-8').decode(body)
  } catch {
    return new TextDecoder('utf-8').decode(body)
  }
}
