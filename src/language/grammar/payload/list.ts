import type { ParsedPayload } from './types.ts'

/**
 * `a | b`: items are trimmed and empty ones dropped. A bar after a backslash is part of the item, and that backslash is
 * removed. Scanned by hand: the obvious pattern is quadratic on a long run of backslashes.
 */
export function parseList(body: string): ParsedPayload {
  const items: string[] = []
  let item = ''
  let from = 0
  for (let at = body.indexOf('|'); at !== -1; at = body.indexOf('|', at + 1)) {
    if (body[at - 1] === '\\' && at > from) {
      item += `${body.slice(from, at - 1)}|`
    } else {
      items.push(item + body.slice(from, at))
      item = ''
    }
    from = at + 1
  }
  items.push(item + body.slice(from))
  const kept = items.map((text) => text.trim()).filter((text) => text !== '')
  if (kept.length === 0) {
    return {
      payload: undefined,
      problems: [{ code: 'empty-payload', message: 'the list is empty', repair: null }],
    }
  }
  return { payload: { syntax: 'list', items: kept }, problems: [] }
}

export function renderList(items: readonly string[]): string {
  return items.map((item) => item.replaceAll('|', '\\|')).join(' | ')
}
