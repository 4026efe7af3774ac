import { z } from 'zod'
import { ToolError } from '../../../base/errors/index.ts'
import type { ChatModel } from '../../models/index.ts'
import type { Tool, ToolContext } from '../contract.ts'
import type { ReadDocument } from '../search/provider.ts'
import { type FetchOptions, fetchPage } from './fetch-page.ts'
import { pageText } from './page-text.ts'
import { Robots } from './robots.ts'
import { type Page, summarizePage } from './summarize.ts'

export interface ReadPageOptions
  extends Pick<FetchOptions, 'allowHosts' | 'blockedHosts' | 'maxBytes' | 'maxRedirects' | 'userAgent'> {
  /** Reads corpus documents by the source that a search returned; anything else is a URL. */
  readDocument?: ReadDocument
  /** Whether to respect each site's robots.txt. Default true. */
  robots?: boolean
  /** Summarizes each page for the question, with one call per page. */
  summarizer?: ChatModel
  /** Time limit for the summary; after that the page is shown as it is. */
  summaryMs?: number
}

interface ReadPage {
  text: string
  /** True for a corpus document. */
  isLocal: boolean
  /** Outcome of the summary; undefined if none was requested. */
  summary?: 'made' | 'cached' | 'failed'
}

const Input = z.object({ urls: z.array(z.string().trim().min(1)).min(1).max(5) })
const AGENT = 'coa-read-page'

/** The page-reading agent: returns one or more pages as Markdown. One bad page does not fail the others. */
export function readPageTool(options: ReadPageOptions = {}): Tool<z.infer<typeof Input>> {
  const { robots: respectsRobots = true, readDocument, summarizer, summaryMs = 20_000, ...fetching } = options
  const robots = new Robots(AGENT)

  async function fetched(address: string, signal: AbortSignal): Promise<Page> {
    const settings: FetchOptions = { ...fetching, signal }
    if (respectsRobots) settings.mayFetch = (target) => robots.mayFetch(target, settings)
    const page = await fetchPage(address, settings)
    return { url: page.url, ...(await pageText(page, signal)) }
  }

  async function read(source: string, context: ToolContext): Promise<ReadPage> {
    const document = readDocument?.(source)
    const isLocal = document !== undefined
    const { url, title, text }: Page = isLocal
      ? { url: source, title: document.title, text: document.text }
      : await fetched(source, context.signal)
    const shown = (body: string): string => `# ${title}\n${url}\n\n${body}`
    if (summarizer === undefined) return { text: shown(text), isLocal }
    try {
      // Shorter than the time limit of the call, so that a slow model costs only the summary.
      const signal = AbortSignal.any([context.signal, AbortSignal.timeout(summaryMs)])
      const summary = await summarizePage({ url, title, text }, summarizer, { ...context, signal })
      return { text: shown(summary.text), isLocal, summary: summary.cached ? 'cached' : 'made' }
    } catch {
      context.signal.throwIfAborted()
      return { text: shown(text), isLocal, summary: 'failed' }
    }
  }

  return {
    name: 'crawl_page',
    description: 'Read web pages. Write one address, or several separated by |.',
    payload: { syntax: 'list' },
    input: Input,
    fromPayload: (payload) => (payload.syntax === 'list' ? { urls: payload.items } : payload),
    cacheable: true,
    // What one configuration may read must not reach another through the cache.
    cacheScope: ({ question }) => ({
      ...fetching,
      keepsToRobots: respectsRobots,
      ...(readDocument === undefined ? {} : { corpus: true }),
      ...(summarizer === undefined ? {} : { model: summarizer.name, question }),
    }),
    execute: async ({ urls }, context) => {
      const pages = await Promise.allSettled(urls.map((url) => read(url, context)))
      context.signal.throwIfAborted()
      const failed = pages.filter((page) => page.status === 'rejected')
      // If every page failed, the first error is rethrown, so that a busy server is retried.
      if (failed.length === pages.length) throw asToolError(failed[0]!.reason)
      const texts = pages.map((page, index) =>
        page.status === 'fulfilled'
          ? page.value.text
          : `${urls[index]} could not be read: ${asToolError(page.reason).message}`,
      )
      const summaries = pages.flatMap((page) =>
        page.status === 'fulfilled' && page.value.summary !== undefined ? [page.value.summary] : [],
      )
      return {
        text: texts.join('\n\n---\n\n'),
        provenance: {
          urls,
          failed: failed.length,
          ...(summaries.length === 0 ? {} : { model: summarizer?.name, summaries }),
        },
        incomplete:
          failed.length > 0 ||
          summaries.includes('failed') ||
          pages.some((page) => page.status === 'fulfilled' && page.value.isLocal),
      }
    },
  }
}

function asToolError(reason: unknown): ToolError {
  if (reason instanceof ToolError) return reason
  return new ToolError(reason instanceof Error ? reason.message : String(reason), { cause: reason })
}
