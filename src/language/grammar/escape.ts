/**
 * A block's own closing tag inside its body would end the block, so it is escaped with a backslash: `<\/think>`. A tag
 * that already has backslashes gets one more, so any text round-trips. The match ignores case because the parser
 * repairs wrong-case tags.
 */
const escapers = new Map<string, RegExp>()

function closingTag(tag: string): RegExp {
  let pattern = escapers.get(tag)
  if (pattern === undefined) {
    pattern = new RegExp(`<(\\\\*)/(${tag.replaceAll(/[.-]/g, '\\$&')})>`, 'gi')
    escapers.set(tag, pattern)
  }
  return pattern
}

export function escapeBody(tag: string, body: string): string {
  return body.includes('<') ? body.replace(closingTag(tag), '<$1\\/$2>') : body
}

export function unescapeBody(tag: string, body: string): string {
  if (!body.includes('<\\')) return body
  return body.replace(closingTag(tag), (_, slashes: string, name: string) => `<${slashes.slice(1)}/${name}>`)
}
