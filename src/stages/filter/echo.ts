/** Words that announce a result without adding to it. */
const filler = new Set(
  (
    'the a an is are was were it its this that of to be so and equals gives says shows returns returned printed prints ' +
    'result results output outputs answer value tool program code observation'
  ).split(' '),
)

/**
 * Whether a text only repeats what a tool returned: every sentence of it occurs there, apart from case, punctuation and
 * words such as "the result is". Such a text is not a reflection.
 */
export function isEcho(text: string, output: string): boolean {
  const said = ` ${contentOf(output)} `
  return text.split(/[.!?](?=\s)|\n/).every((sentence) => {
    const content = contentOf(sentence)
    return content === '' || said.includes(` ${content} `)
  })
}

const contentOf = (text: string): string =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !filler.has(word)).join(' ')
