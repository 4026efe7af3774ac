export interface Config {
  /** The model's name on the server. */
  model: string
  prompt: { before: string; after: string }
  /** Every tag, and what it is. */
  tags: Record<string, 'role' | 'tool' | 'observation' | 'answer'>
  observation: string
  stop: string[]
  controlTokens: string[]
  /** How to separate the words of a text, for servers that cannot split this model's text themselves. */
  words: { separator: string; pattern: string; tokens: string[] } | null
  limits: { tokens: number; calls: number; context: number }
}

/** A text on a server, which the model continues. */
export interface TextStream {
  append(text: string): Promise<void>
  /** `isEnd`: for another reason than a stop text. `isCut`: a stop text may be missing at the end. */
  generate(maxTokens: number): Promise<{ text: string; tokens: number; isEnd: boolean; isCut: boolean }>
}

export type Tools = Record<string, (body: string) => Promise<string>>

interface Turn {
  tag: string
  body: string
  isOpen: boolean
}

/** The last turn of a chain. A tag inside another turn is part of its text. */
export function lastTurn(chain: string, { tags }: Pick<Config, 'tags'>): Turn | undefined {
  const opening = new RegExp(`<(${Object.keys(tags).join('|')})>`, 'g')
  let turn: Turn | undefined
  for (let found = opening.exec(chain); found !== null; found = opening.exec(chain)) {
    const [start, tag] = [opening.lastIndex, found[1]!]
    const end = chain.indexOf(`</${tag}>`, start)
    if (end === -1) return { tag, body: chain.slice(start), isOpen: true }
    turn = { tag, body: chain.slice(start, end), isOpen: false }
    opening.lastIndex = end + tag.length + 3
  }
  return turn
}

/** Answers a question; `show` gets the chain as it grows. */
export async function solve(
  question: string,
  {
    config,
    stream,
    tools,
    show = () => {},
  }: { config: Config; stream: TextStream; tools: Tools; show?: (text: string) => void },
): Promise<{ answer: string | undefined; chain: string; calls: number }> {
  const { prompt, tags, observation, limits, controlTokens } = config
  const text = controlTokens.reduce((kept, token) => kept.replaceAll(token, ''), question.trim())
  await stream.append(prompt.before + text + prompt.after)
  let [chain, calls, shown] = ['', 0, 0]
  for (let left = limits.tokens; left > 0; ) {
    const piece = await stream.generate(left)
    left -= piece.tokens
    chain += piece.text
    let turn = lastTurn(chain, config)
    const kind = turn === undefined ? undefined : tags[turn.tag]
    if (piece.isCut && turn?.isOpen && (kind === 'tool' || kind === 'answer')) {
      chain += `</${turn.tag}>`
      await stream.append(`</${turn.tag}>`)
      turn = { ...turn, isOpen: false }
    }
    show(chain.slice(shown))
    shown = chain.length
    if (turn?.isOpen === false && kind === 'answer') return { answer: turn.body.trim(), chain, calls }
    if (turn?.isOpen === false && kind === 'tool') {
      if (calls === limits.calls) break
      const output = (await tools[turn.tag]?.(turn.body)) ?? `${turn.tag} is not available`
      const escaped = output.replaceAll(`</${observation}>`, `<\\/${observation}>`)
      chain += `\n<${observation}>${escaped}</${observation}>\n`
      await stream.append(chain.slice(shown))
      calls++
    } else if (piece.isEnd) break
  }
  return { answer: undefined, chain, calls }
}
