export interface JudgeReply {
  isCorrect: boolean
  reason: string
}

/** Longer replies are not searched: a judge was asked for one object. */
const replyLimit = 20_000

/**
 * Reads a judge's reply: a JSON object with a verdict, alone, in a fence, or between other words. The last object
 * with a verdict counts, because some models think aloud first; objects that disagree make the reply unusable.
 */
export function readReply(text: string): JudgeReply | undefined {
  const replies = objectsIn(text.slice(0, replyLimit)).flatMap((object) => {
    const said = firstString(object, ['verdict', 'judgement', 'judgment', 'result', 'correct'])
    const isCorrect = said === undefined ? undefined : meaningOf(said)
    return isCorrect === undefined
      ? []
      : [{ isCorrect, reason: firstString(object, ['reason', 'rationale']) ?? '' }]
  })
  const last = replies.at(-1)
  return replies.every((reply) => reply.isCorrect === last?.isCorrect) ? last : undefined
}

function meaningOf(said: string): boolean | undefined {
  const word = said.trim().toLowerCase()
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

/** Every outermost {…} that is JSON. A brace that opens none is skipped. */
function objectsIn(text: string): Record<string, unknown>[] {
  const objects: Record<string, unknown>[] = []
  // Each attempt scans to its closing brace: a reply of many opening braces must not cost their square.
  let attempts = 0
  for (let start = text.indexOf('{'); start >= 0 && attempts < 50; start = text.indexOf('{', start + 1)) {
    attempts++
    const end = closingBrace(text, start)
    if (end === undefined) continue
    try {
      objects.push(JSON.parse(text.slice(start, end + 1)) as Record<string, unknown>)
      start = end
    } catch {
      // Not JSON from here; perhaps from the next brace.
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
