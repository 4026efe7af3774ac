import type { PageText } from './html-text.ts'

/** Elements whose content is not visible text. */
const hidden = ['script', 'style', 'noscript', 'template']
/** Elements that start a new line. */
const lineBreaking = /^\/?(p|div|br|li|tr|h[1-6]|section|article|table|ul|ol|pre|blockquote|title)$/
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/** The text of a page without its tags. Ignores articles and links, but takes linear time on any input. */
export function stripTags(html: string, url = ''): PageText {
  const lower = html.toLowerCase()
  const title = textBetween(html, lower, '<title', '</title')
  const parts: string[] = []
  let at = 0
  while (at < html.length) {
    const open = html.indexOf('<', at)
    parts.push(html.slice(at, open < 0 ? undefined : open))
    if (open < 0) break
    const close = html.indexOf('>', open)
    if (close < 0) break
    const name = /^\/?[a-z0-9]*/.exec(lower.slice(open + 1, open + 20))?.[0] ?? ''
    if (lineBreaking.test(name)) parts.push('\n')
    at = close + 1
    if (!hidden.includes(name)) continue
    const end = lower.indexOf(`</${name}`, at)
    if (end < 0) break
    at = end
  }
  return { title: decode(title).trim() || url, text: tidy(decode(parts.join(''))) }
}

function textBetween(html: string, lower: string, open: string, close: string): string {
  const from = html.indexOf('>', Math.max(0, lower.indexOf(open)))
  const to = lower.indexOf(close)
  return lower.includes(open) && from >= 0 && to > from ? html.slice(from + 1, to) : ''
}

function decode(text: string): string {
  return text.replaceAll(/&(#\d{1,7}|[a-z]{2,6});/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return entities[name.toLowerCase()] ?? whole
    const code = Number(name.slice(1))
    return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : whole
  })
}

function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.split(/\s+/).filter(Boolean).join(' '))
  return lines.filter((line) => line !== '').join('\n')
}
