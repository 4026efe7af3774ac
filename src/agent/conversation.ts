/** What was said before the question, without the chains behind the answers. */
export interface EarlierTurn {
  by: 'User' | 'Assistant'
  text: string
}

export interface Conversation {
  /** The client's own system messages. */
  instructions: readonly string[]
  earlier: readonly EarlierTurn[]
  question: string
}

/**
 * A conversation as one question. The model was trained on prompts with the grammar's system prompt and one message from the
 * user, and it gets such a prompt here too: without instructions and earlier turns, exactly the one that `coa solve` gives it.
 */
export function questionOf({ instructions, earlier, question }: Conversation): string {
  const told = instructions.map((text) => text.trim()).filter((text) => text !== '')
  const parts = [
    ...(told.length === 0 ? [] : [`Instructions:\n${told.join('\n\n')}`]),
    ...(earlier.length === 0
      ? []
      : [`Earlier in this conversation:\n${earlier.map(({ by, text }) => `${by}: ${text}`).join('\n')}`]),
  ]
  return parts.length === 0 ? question : [...parts, `Question:\n${question}`].join('\n\n')
}
