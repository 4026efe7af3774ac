/** Turns as chat templates write them: Qwen's and ChatML's, and Llama's. */
const templates = [
  /<\|im_start\|>[ \t]*(\w+)\n([\s\S]*?)(?=<\|im_end\|>|<\|im_start\|>|$)/g,
  /<\|start_header_id\|>(\w+)<\|end_header_id\|>\s*([\s\S]*?)(?=<\|eot_id\|>|<\|start_header_id\|>|$)/g,
]

/** What these templates, and those who pad them, write around the turns. */
export const templateMarks = /<\|im_start\|>\s*\w+|<\|start_header_id\|>\w+|<\|[a-z_]+\|>|<pad>/g

/** The messages in decoded tokens of a chat; undefined if no template is recognized. */
export function messagesInText(text: string): { role: string; content: string }[] | undefined {
  for (const template of templates) {
    const turns = [...text.matchAll(template)]
    if (turns.length > 0) return turns.map(([, role, content]) => ({ role: role!, content: content!.trim() }))
  }
  return undefined
}
