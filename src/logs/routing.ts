/** Words by which a team decides who speaks next or that the work is over; no part of what anybody says. */
const ROUTING =
  /^[ \t]{0,12}[*_"'[(]{0,3}(?:(?:SUGGESTED )?NEXT SPEAKER:? ?[^\n]{1,80}|TERMINATE|TASK_DONE|<CAMEL_TASK_DONE>|CAMEL_TASK_DONE)[*_"'\])]{0,3}[.!]?[ \t]{0,12}$/gm

/** A routing word at the end of a sentence: "The task is complete. TERMINATE". */
const LAST_WORD = /(?<=[.!?:*)\]}"'] {0,2})[*"']{0,3}(?:TERMINATE|TASK_DONE)[*"']{0,3}[.!]?\s{0,20}$/

/** Inside a paragraph; in capitals, as prompts ask for it. */
const NEXT = /SUGGESTED NEXT SPEAKER:? ?[*_"']{0,3}[\w -]{1,60}[*_"']{0,3}\.?/g

/** Announces an answer; what follows it is the answer itself. */
const FOUND = /SOLUTION_FOUND(?::\*\*|\*\*:|:)? ?/g

/** A message without its routing words. */
export function withoutRouting(text: string): string {
  const spoken = text.replace(ROUTING, '').replace(NEXT, '').replace(FOUND, '').replace(LAST_WORD, '')
  return spoken.replace(/\n{3,}/g, '\n\n').trim()
}

/** Whether a message ends the work of its team. */
export const endsWork = (text: string): boolean => /\bTERMINATE\b|\bTASK_DONE\b|\bSOLUTION_FOUND\b/.test(text)

/** How agents mark a final answer; the last mark counts. */
const marks = [
  /^[ \t]{0,12}[*_#]{0,6} ?(?:the )?final answer(?: is)?[*_]{0,2}:[*_]{0,2}\s{0,4}(\S[^\n]{0,2000})$/gim,
  /SOLUTION_FOUND[*_]{0,2}:? ?[*_]{0,2}(\S[^\n]{0,2000})$/gm,
]

/** The answer that a final message marks as such; otherwise all of it. */
export function markedAnswer(text: string): string {
  const found = marks.flatMap((mark) => [...text.matchAll(mark)]).at(-1)?.[1]
  const marked = found === undefined ? '' : withoutEmphasis(withoutRouting(found))
  return marked === '' ? withoutRouting(text) : marked
}

/** `**Paris**.` is an answer in bold. */
function withoutEmphasis(text: string): string {
  const plain = text
    .trim()
    .replace(/^[*_]{1,3}/, '')
    .replace(/[*_]{1,3}\.?$/, '')
  return plain.includes('**') ? text.trim() : plain.trim()
}
