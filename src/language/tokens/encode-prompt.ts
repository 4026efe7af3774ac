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
  const source = tokenizer.chatTemplate(options.template) ?? ''
  // A template that prints the time gives another prompt every time.
  if (source.includes(PRINTS_TIME)) return encodeAgain(tokenizer, messages, options)
  const known = encoded.get(tokenizer) ?? { ids: new Map<string, Int32Array>(), characters: 0 }
  encoded.set(tokenizer, known)
  const { date: _, ...others } = options
  const key = JSON.stringify([messages, others])
  const ids = known.ids.get(key) ?? encodeAgain(tokenizer, messages, options)
  // Set again, so that the first key is the one that has not been used for the longest time.
  if (!known.ids.delete(key)) known.characters += key.length
  known.ids.set(key, ids)
  for (const oldest of known.ids.keys()) {
    if (known.ids.size <= MAX_ENCODED && known.characters <= MAX_CHARACTERS) break
    known.ids.delete(oldest)
    known.characters -= oldest.length
  }
  return ids.slice()
}

/** The rollouts of a group begin with the same prompt, and a guided reply repeats its own, so recent ones are kept. */
const MAX_ENCODED = 2048
const MAX_CHARACTERS = 16 * 2 ** 20
const PRINTS_TIME = 'strftime_now'
const encoded = new WeakMap<Tokenizer, { ids: Map<string, Int32Array>; characters: number }>()

function encodeAgain(
  tokenizer: Tokenizer,
  messages: readonly Message[],
  options: RenderPromptOptions,
): Int32Array {
  const rendered = renderPrompt(tokenizer, messages, options)
  const plain = messages.every(({ content }) => !mayTouchControlToken(content, tokenizer.controlTokens))
  if (plain) return tokenizer.encodeIds(rendered, { specials: 'recognize' })
  const literal = contentRanges(tokenizer, messages, rendered, options)
  if (literal !== undefined) return tokenizer.encodeIds(rendered, { specials: 'recognize', literal })
  for (const { content } of messages) {
    const injected = [...tokenizer.controlTokens].find((token) => content.includes(token))
    if (injected === undefined) continue
    throw new TokenizerError(
      `A message contains the control token ${injected}, and the chat template rewrites messages, so the two cannot be distinguished.`,
      { fix: `Remove ${injected} from the message, or use a template that prints contents verbatim.` },
    )
  }
  return tokenizer.encodeIds(rendered, { specials: 'recognize' })
}

/**
 * Whether the content could contain a control token, or part of one that extends into the surrounding text. Most
 * contents do not; then there is nothing to protect and one rendering is enough.
 */
function mayTouchControlToken(content: string, controlTokens: ReadonlySet<string>): boolean {
  const { openings, endings, longest, plain } = edgesOf(controlTokens)
  if (plain.has(content)) return false
  for (const token of controlTokens) if (content.includes(token)) return true
  // A template may trim, so also check without surrounding whitespace.
  for (const text of [content, content.trim()]) {
    for (let length = 1; length < longest && length <= text.length; length++) {
      if (openings.has(text.slice(-length)) || endings.has(text.slice(0, length))) return true
    }
    // A text inside a token, shorter than it: neither edge is an edge of the token.
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
  /** Contents known to contain none: a system prompt is repeated with every question. */
  plain: Set<string>
}

const knownEdges = new WeakMap<ReadonlySet<string>, Edges>()

/** The proper prefixes and suffixes of control tokens. */
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

/** The ranges of the contents in the rendered text; undefined if the template does not print them verbatim. */
function contentRanges(
  tokenizer: Tokenizer,
  messages: readonly Message[],
  rendered: string,
  options: RenderPromptOptions,
): Array<[number, number]> | undefined {
  const marker = unusedMarker(rendered)
  const marked = messages.map((message, index) =>
    // An empty content needs no protection, and templates test for it.
    message.content === '' ? message : { ...message, content: `${marker}${index}${marker}` },
  )
  let skeleton: string
  try {
    skeleton = renderPrompt(tokenizer, marked, options)
  } catch {
    return undefined
  }
  const parts = skeleton.split(new RegExp(`${marker}(\\d+)${marker}`))
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

/** Letters that do not occur in the prompt, so that no content can imitate the marker. */
function unusedMarker(rendered: string): string {
  for (let number = 0; ; number++) {
    const marker = `coaContent${number.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)]!)}Z`
    if (!rendered.includes(marker)) return marker
  }
}
