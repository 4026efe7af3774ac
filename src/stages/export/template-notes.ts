import { renderPrompt, type Tokenizer } from '../../language/tokens/index.ts'

const probe = [
  { role: 'system' as const, content: 'coa-s' },
  { role: 'user' as const, content: '\ncoa-u\n' },
  { role: 'assistant' as const, content: ' coa-a\n' },
  { role: 'user' as const, content: '\ncoa-o\n' },
  { role: 'assistant' as const, content: 'coa-e' },
]

/** What the tokenizer's chat template does to message contents, found by rendering examples. */
export function templateNotes(tokenizer: Tokenizer): string[] {
  if (tokenizer.chatTemplate() === undefined) {
    return ['The tokenizer has no chat template; the trainer needs one.']
  }
  let rendered: string
  try {
    rendered = renderPrompt(tokenizer, probe, { addGenerationPrompt: false })
  } catch (error) {
    return [
      `The tokenizer's chat template refuses a conversation with system, user and assistant: ${(error as Error).message}`,
    ]
  }
  const changed = probe.filter(({ content }) => !rendered.includes(content))
  if (changed.length === 0) return []
  const lost = changed.some(({ content }) => !rendered.includes(content.trim()))
  return [
    lost
      ? "The tokenizer's chat template rewrites the contents of turns, so the trainer sees different text than the file contains."
      : "The tokenizer's chat template trims the contents of turns: line breaks around observations are lost.",
  ]
}
