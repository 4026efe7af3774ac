/** Labels after which prompts put the question, behind instructions, tools and examples. */
const labels = /(?:^|\s)(?:User|Question|Current Task|New task):[ \t]*/g

export interface Asked {
  /** Where the question starts. */
  start: number
  question: string
}

/** The question at the end of a prompt; the whole prompt if none is marked. */
export function questionIn(prompt: string): Asked {
  const last = [...prompt.matchAll(labels)].at(-1)
  const start = last === undefined ? 0 : last.index + last[0].length
  const question = prompt.slice(start).trim()
  return question === '' ? { start: 0, question: prompt.trim() } : { start, question }
}

/** A question without the label in front of it. */
export const withoutLabel = (question: string): string => question.replace(/^\s*(?:Question|User):\s*/, '')
