import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'

export interface PageText {
  title: string
  /** Markdown; links kept, addresses made absolute. */
  text: string
}

type Page = ReturnType<typeof parseHTML>['document']

/** Finding the article takes time that grows with the page; beyond this the page is taken as it is. */
const MOST_ELEMENTS = 50_000

const markdown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
markdown.remove(['script', 'style', 'noscript', 'iframe', 'title'])
// A picture's address helps no reader of text, and one with the picture inside it fills the whole output.
markdown.addRule('picture', {
  filter: 'img',
  replacement: (_, node) => {
    const words = (node as unknown as { getAttribute: (name: string) => string | null }).getAttribute('alt')
    return words === null || words.trim() === '' ? '' : `[picture: ${words.trim()}]`
  },
})

/**
 * The article of a page as Markdown; the whole page where no article can be made out. Without an address, links stay
 * as they are and a page without a title has none.
 */
export function htmlText(html: string, url?: string): PageText {
  const { document } = parseHTML(whole(html))
  mendLinks(document, url)
  const title = document.querySelector('title')?.textContent?.trim() || (url ?? '')
  const body = document.body?.innerHTML.trim() || html
  const article = readArticle(document)
  const content = article?.content != null && article.content.trim() !== '' ? article.content : body
  return { title: article?.title?.trim() || title, text: markdown.turndown(content).trim() }
}

/** Browsers add what a page leaves out; the parser here does not. */
function whole(html: string): string {
  if (!/<html[\s>]/i.test(html)) return `<html><body>${html}</body></html>`
  return /<(body|frameset)[\s>]/i.test(html) ? html : html.replace(/<html[^>]*>/i, '$&<body>')
}

function readArticle(document: Page): ReturnType<Readability['parse']> {
  try {
    const page = document as unknown as ConstructorParameters<typeof Readability>[0]
    return new Readability(page, { maxElemsToParse: MOST_ELEMENTS }).parse()
  } catch {
    return null
  }
}

/** Addresses are made absolute; links that lead nowhere a reader could go become plain text. */
function mendLinks(document: Page, url: string | undefined): void {
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
