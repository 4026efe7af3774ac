/** What a text browser shows, as AutoGen's web and file surfers send it: an address, a viewport and the page. */
const PAGE =
  /^\s{0,20}Address: ([^\n]{1,2000})\n(?:(?:Title|You previously visited|Viewport position): ?[^\n]{0,2000}\n|You previously visited [^\n]{0,200}\n){1,4}=====/

/** A message that is a page in a browser, as the call that opened it and what it returned. */
export interface PageView {
  tool: 'web_search' | 'crawl_page'
  input: string
  output: string
}

/** Undefined if the message is no page. The address tells how it was opened. */
export function pageViewIn(text: string): PageView | undefined {
  const address = PAGE.exec(text)?.[1]?.trim()
  if (address === undefined) return undefined
  const query = /^(?:bing|google|duckduckgo|search): ?(.+)$/.exec(address)?.[1]
  return query === undefined
    ? { tool: 'crawl_page', input: address, output: text.trim() }
    : { tool: 'web_search', input: query, output: text.trim() }
}
