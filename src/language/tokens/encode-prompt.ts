import { TokenizerError } from '../../base/errors/index.ts'
import type { Message } from '../../schema/index.ts'
import { type RenderPromptOptions, renderPrompt } from './render-prompt.ts'
import type { Tokenizer } from './tokenizer.ts'

/**
 * Encodes messages as token ids. Control tokens of the chat template are recognized, those written inside a message are not: the
 * template is rendered a second time with a marker for each content, which shows where in the text the contents are, and there
 * control tokens stay text. Otherwise the ids are those of the rendered text as a whole.
 *
 * A template may trim contents. If it changes them in another way, their position is unknown: then messages without control tokens
 * are encoded as rendered, and messages with control tokens are rejected.
 *
 * @example
 * import { buildPrompt, loadGrammar } from 'chain-of-agents'
 * import { encodePrompt, openTokenizer } from 'chain-of-agents/engine'
 *
 * const messages = buildPrompt(await loadGrammar('math'), 'What is 17 + 4?')
 * const ids = encodePrompt(await openTokenizer('models/mine'), messages)
 */
export function encodePrompt(
  tokenizer: Tokenizer,
  messages: readonly Message[],
  options: RenderPromptOptions = {},
): Int32Array {
  const rendered = renderPrompt(tokenizer, messages, options)
  const plain = messages.every(({ content }) => !mayTouchControlToken(content, tokenizer.controlTokens))
  if (plain) return tokenizer.encodeIds(rendered, { specials: 'recognise' })
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

/**
 * True where a control token could lie in the content, or reach into it from the text around. Most contents have
 * nothing of the kind, and then there is nothing to protect and one rendering is enough.
 */
function mayTouchControlToken(content: string, controlTokens: ReadonlySet<string>): boolean {
  const { openings, endings, longest, plain } = edgesOf(controlTokens)
  if (plain.has(content)) return false
  for (const token of controlTokens) if (content.includes(token)) return true
  // A template may trim, so the edge that matters may come after white space.
  for (const text of [content, content.trim()]) {
    for (let length = 1; length < longest && length <= text.length; length++) {
      if (openings.has(text.slice(-length)) || endings.has(text.slice(0, length))) return true
    }
    // Shorter than a token and inside it: neither edge is one of the token's own.
    if (text !== '' && text.length < longest)
      for (const token of controlTokens) if (token.includes(text)) return true
  }
  if (plain.size >= 32) plain.clear()
  plain.add(content)
  return false
}

interface Edges {
  openings: ReadonlySet<string>
  endings: ReadonlySet<string>
  longest: number
  /** Contents found to be free of them: a system prompt comes with every question. */
  plain: Set<string>
}

const knownEdges = new WeakMap<ReadonlySet<string>, Edges>()

/** How control tokens begin and how they end. */
function edgesOf(controlTokens: ReadonlySet<string>): Edges {
  const known = knownEdges.get(controlTokens)
  if (known !== undefined) return known
  const openings = new Set<string>()
  const endings = new Set<string>()
  let longest = 0
  for (const token of controlTokens) {
    for (let length = 1; length < token.length; length++) {
      openings.add(token.slice(0, length))
      endings.add(token.slice(-length))
    }
    longest = Math.max(longest, token.length)
  }
  const edges = { openings, endings, longest, plain: new Set<string>() }
  knownEdges.set(controlTokens, edges)
  return edges
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
