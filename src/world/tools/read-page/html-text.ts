import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'

export interface PageText {
  title: string
  /** Markdown with absolute links. */
  text: string
}

type Page = ReturnType<typeof parseHTML>['document']

/** Article extraction slows down with page size; larger pages are used as they are. */
const MAX_ELEMENTS = 50_000

const markdown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
markdown.remove(['script', 'style', 'noscript', 'iframe', 'title'])
// An image URL does not help a text model, and a data URL would fill the completeHtml output.
markdown.addRule('picture', {
  filter: 'img',
  replacement: (_, node) => {
    const alt = (node as unknown as { getAttribute: (name: string) => string | null }).getAttribute('alt')
    return alt === null || alt.trim() === '' ? '' : `[picture: ${alt.trim()}]`
  },
})

/**
 * The main article of a page as Markdown, or the completeHtml page if none is found. Without a URL, relative links stay as
 * they are and a missing title stays empty.
 */
export function htmlText(html: string, url?: string): PageText {
  const { document } = parseHTML(completeHtml(html))
  normalizeLinks(document, url)
  const title = document.querySelector('title')?.textContent?.trim() || (url ?? '')
  const body = document.body?.innerHTML.trim() || html
  const article = readArticle(document)
  const content = article?.content != null && article.content.trim() !== '' ? article.content : body
  return { title: article?.title?.trim() || title, text: markdown.turndown(content).trim() }
}

/** Browsers add missing elements; this parser does not. */
function completeHtml(html: string): string {
  if (!/<html[\s>]/i.test(html)) return `<html><body>${html}</body></html>`
  return /<(body|frameset)[\s>]/i.test(html) ? html : html.replace(/<html[^>]*>/i, '$&<body>')
}

function readArticle(document: Page): ReturnType<Readability['parse']> {
  try {
    const page = document as unknown as ConstructorParameters<typeof Readability>[0]
    return new Readability(page, { maxElemsToParse: MAX_ELEMENTS }).parse()
  } catch {
    return null
  }
}

/** Makes links absolute; links that a reader cannot follow become plain text. */
function normalizeLinks(document: Page, url: string | undefined): void {
  const declared = document.querySelector('base[href]')?.getAttribute('href') ?? ''
  const base = URL.canParse(declared, url) ? new URL(declared, url).href : url
  for (const link of document.querySelectorAll('a[href]')) {
    const target = link.getAttribute('href') ?? ''
    if (!URL.canParse(target, base)) {
      if (base !== undefined) link.removeAttribute('href')
      continue
    }
    const { href, protocol } = new URL(target, base)
    if (['http:', 'https:', 'mailto:'].includes(protocol)) link.setAttribute('href', href)
    else link.removeAttribute('href')
  }
}
