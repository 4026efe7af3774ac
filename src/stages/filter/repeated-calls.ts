import type { Payload, Utterance } from '../../language/grammar/index.ts'

/** The most frequent call, ignoring differences that do not matter to the tool. */
export function mostRepeated(calls: readonly Pick<Utterance, 'agent' | 'payload'>[]): {
  agent: string
  times: number
} {
  const seen = new Map<string, number>()
  let most = { agent: '', times: 0 }
  for (const { agent, payload } of calls) {
    const key = `${agent}\0${callInput(payload)}`
    const times = (seen.get(key) ?? 0) + 1
    seen.set(key, times)
    if (times > most.times) most = { agent, times }
  }
  return most
}

/** Normalizes an input: case of a query, order of pages, blank lines of code do not matter to the tool. */
export function callInput(payload: Payload): string {
  switch (payload.syntax) {
    case 'text':
      return plain(payload.text)
    case 'list':
      // URLs are not lowercased: their case can matter.
      return payload.items
        .map((item) => item.trim())
        .sort()
        .join('\0')
    case 'code':
      return `${withoutBlankLines(payload.code)}\0${payload.stdin?.trim() ?? ''}`
    case 'json':
      return canonical(payload.value)
  }
}

function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s"“”.,;:!?]+/gu, ' ')
    .trim()
}

/** Indentation is kept because it is significant. */
function withoutBlankLines(code: string): string {
  return code
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n')
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null)
    return JSON.stringify(typeof value === 'string' ? value.trim() : value)
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`
}
