/**
 * Extracts the program from an answer: the last fenced block, preferably one marked as Python, or else the whole
 * text.
 */
export function extractProgram(answer: string): string {
  const blocks: { language: string; code: string }[] = []
  const lines = answer.split('\n')
  let open: { fence: string; language: string; from: number } | undefined
  for (const [index, line] of lines.entries()) {
    const fence = /^\s*(`{3,}|~{3,})\s*([\w+-]*)\s*$/.exec(line)
    if (fence === null) continue
    const [, marks = '', language = ''] = fence
    if (open === undefined) open = { fence: marks, language: language.toLowerCase(), from: index + 1 }
    else if (marks.startsWith(open.fence) && language === '') {
      blocks.push({ language: open.language, code: lines.slice(open.from, index).join('\n') })
      open = undefined
    }
  }
  // An unclosed fence means a truncated answer: the rest is still its program.
  if (open !== undefined) blocks.push({ language: open.language, code: lines.slice(open.from).join('\n') })
  const python = blocks.filter(({ language }) => /^(?:py|python3?)$/.test(language))
  return (python.at(-1) ?? blocks.at(-1))?.code ?? answer
}
