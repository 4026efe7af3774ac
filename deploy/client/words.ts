import type { Config } from './loop.ts'

/** Text as the server must get it: with a separator after each word, if it cannot split the text itself. */
export function separated(text: string, { words }: Pick<Config, 'words'>): string {
  if (words === null) return text
  const escaped = words.tokens.map((token) => token.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const pattern = new RegExp(words.pattern, 'gu')
  return text
    .split(new RegExp(`(${escaped.join('|')})`))
    .map((part, index) => (index % 2 === 1 ? part : part.replace(pattern, `$&${words.separator}`)))
    .join('')
}
