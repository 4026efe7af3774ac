export interface JudgeReply {
  isCorrect: boolean
  reason: string
}

/** Only this much of a reply is searched: the judge was asked for a single object. */
const replyLimit = 20_000

/**
 * Parses a judge's reply: a JSON object with a verdict, alone, in a code fence, or surrounded by prose. The last
 * object with a verdict counts, because some models think aloud first; a reply whose objects disagree is unusable.
 */
export function readReply(text: string): JudgeReply | undefined {
  const replies = objectsIn(text.slice(0, replyLimit)).flatMap((object) => {
    const value = firstString(object, ['verdict', 'judgement', 'judgment', 'result', 'correct'])
    const isCorrect = value === undefined ? undefined : meaningOf(value)
    return isCorrect === undefined
      ? []
      : [{ isCorrect, reason: firstString(object, ['reason', 'rationale']) ?? '' }]
  })
  const last = replies.at(-1)
  return replies.every((reply) => reply.isCorrect === last?.isCorrect) ? last : undefined
}

function meaningOf(value: string): boolean | undefined {
  const word = value.trim().toLowerCase()
  if (['correct', 'true', 'yes', 'equivalent'].includes(word)) return true
  return ['incorrect', 'wrong', 'false', 'no', 'not correct'].includes(word) ? false : undefined
}

function firstString(object: Record<string, unknown>, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = object[name]
    if (typeof value === 'string') return value
    if (typeof value === 'boolean') return String(value)
  }
  return undefined
}

/** Every outermost {…} that is valid JSON. */
function objectsIn(text: string): Record<string, unknown>[] {
  const objects: Record<string, unknown>[] = []
  // Each attempt scans to its closing brace, so many opening braces must not cost quadratic time.
  let attempts = 0
  for (let start = text.indexOf('{'); start >= 0 && attempts < 50; start = text.indexOf('{', start + 1)) {
    attempts++
    const end = closingBrace(text, start)
    if (end === undefined) continue
    try {
      objects.push(JSON.parse(text.slice(start, end + 1)) as Record<string, unknown>)
      start = end
    } catch {
      // Not JSON; try the next brace.
    }
  }
  return objects
}

function closingBrace(text: string, start: number): number | undefined {
  let depth = 0
  let inString = false
  for (let i = start; i < text.length; i++) {
    const character = text[i]
    if (inString && character === '\\') i++
    else if (character === '"') inString = !inString
    else if (!inString && character === '{') depth++
    else if (!inString && character === '}' && --depth === 0) return i
  }
  return undefined
}
