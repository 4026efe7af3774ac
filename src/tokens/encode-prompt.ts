import { TokenizerError } from '../errors/index.ts'
import type { Message } from '../schema/index.ts'
import { type RenderPromptOptions, renderPrompt } from './render-prompt.ts'
import type { Tokenizer } from './tokenizer.ts'

/**
 * Messages to ids. Control tokens of the template are recognised, those written in a message are not: the template
 * is rendered a second time with a mark for each content, which shows where in the text contents stand,
 * and there control tokens stay text. The ids are otherwise those of the rendered text as a whole.
 *
 * A template may trim contents; that is followed. If it changes them in another way, their place is unknown: then
 * messages without control tokens are encoded as rendered, and messages with any are refused.
 */
export function encodePrompt(
  tokenizer: Tokenizer,
  messages: readonly Message[],
  options: RenderPromptOptions = {},
): Int32Array {
  const rendered = renderPrompt(tokenizer, messages, options)
  const literal = contentRanges(tokenizer, messages, rendered, options)
  if (literal !== undefined) return tokenizer.encodeIds(rendered, { specials: 'recognise', literal })
  for (const { content } of messages) {
    const injected = [...tokenizer.controlTokens].find((token) => content.includes(token))
    if (injected === undefined) continue
    throw new TokenizerError(
      `A message contains the control token ${injected}, and the chat template rewrites messages, so it cannot be told apart.`,
      { fix: `Remove ${injected} from the message, or use a template that prints contents as they are.` },
    )
  }
  return tokenizer.encodeIds(rendered, { specials: 'recognise' })
}

/** Where the contents stand in the rendered text; undefined when the template does not print them as they are. */
function contentRanges(
  tokenizer: Tokenizer,
  messages: readonly Message[],
  rendered: string,
  options: RenderPromptOptions,
): Array<[number, number]> | undefined {
  const mark = unusedMark(rendered)
  const marked = messages.map((message, index) =>
    // Nothing to protect in an empty content, and templates ask whether there is one.
    message.content === '' ? message : { ...message, content: `${mark}${index}${mark}` },
  )
  let skeleton: string
  try {
    skeleton = renderPrompt(tokenizer, marked, options)
  } catch {
    return undefined
  }
  const parts = skeleton.split(new RegExp(`${mark}(\\d+)${mark}`))
  const ranges: Array<[number, number]> = []
  let position = parts[0]!.length
  if (!rendered.startsWith(parts[0]!)) return undefined
  for (let index = 1; index < parts.length; index += 2) {
    const content = messages[Number(parts[index])]!.content
    const next = parts[index + 1]!
    const printed = [content, content.trim(), content.trimEnd(), content.trimStart()].find(
      (text) => rendered.startsWith(text, position) && rendered.startsWith(next, position + text.length),
    )
    if (printed === undefined) return undefined
    ranges.push([position, position + printed.length])
    position += printed.length + next.length
  }
  return position === rendered.length ? ranges : undefined
}

/** Letters that occur nowhere in the prompt, so that no content can pose as the mark of one. */
function unusedMark(rendered: string): string {
  for (let number = 0; ; number++) {
    const mark = `coaContent${number.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)]!)}Z`
    if (!rendered.includes(mark)) return mark
  }
}
