import type { Constraint, ConstraintState } from '../../../src/agent/constrain/index.ts'
import { type Chain, type Grammar, parseChain, renderStep } from '../../../src/language/grammar/index.ts'
import { TextStream, type Tokenizer } from '../../../src/language/tokens/index.ts'

export interface Walk {
  text: string
  state: ConstraintState
  steps: number
  /** No token could follow. */
  stuck: boolean
}

/** A small seeded random number generator. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Texts that close blocks, tried occasionally, because chance alone hardly ever closes one. */
function waysOut(grammar: Grammar, text: string): string[] {
  const { blocks } = parseChain(grammar, text, { strict: true })
  const open = blocks.findLast(({ closed }) => !closed)
  if (open === undefined) {
    const tags = [...grammar.agents.values()].map(({ tag }) => `<${tag}>`)
    return [...tags, ...tags.map((tag) => `\n${tag}`), `\n<${grammar.answer.tag}>`, `<${grammar.answer.tag}>`]
  }
  const closing = `</${grammar.agents.get(open.agent)!.tag}>`
  const { payload } = grammar.agents.get(open.agent)!
  if (payload.syntax === 'code') {
    const fences = payload.languages.flatMap((language) => [
      `\n\`\`\`${language}\n`,
      `\`\`\`${language} \nx\n\`\`\``,
    ])
    return [...fences, '\n```', '\n```\n', '\n```sh\n', '\n```````````', closing, `\n${closing}`, '`', 'x\n']
  }
  if (payload.syntax === 'json') {
    const ends = [
      '"',
      '"}',
      '}',
      ']',
      ']}',
      ': "',
      ',',
      '0',
      'true',
      'null',
      '{"',
      '["',
      '"file_path"',
      'e"',
      '":',
    ]
    return [...ends, ...ends.map((end) => end + closing), closing, closing, '{}', '{"only":', '"a"', '"ab"']
  }
  return [`x${closing}`, closing, ` ${closing}`, `<\\${closing.slice(1)}`]
}

const listed = new WeakMap<Uint8Array, number[]>()

/** The tokens of a mask; masks are shared, so most are cached. */
export function allowedIn(mask: Uint8Array): number[] {
  let tokens = listed.get(mask)
  if (tokens === undefined) {
    tokens = [...mask.keys()].filter((token) => mask[token] === 1)
    listed.set(mask, tokens)
  }
  return tokens
}

/** Follows a constraint with random tokens, mostly of few kinds, and answers calls as the runtime does. */
export function randomWalk(
  grammar: Grammar,
  tokenizer: Tokenizer,
  constraint: Constraint,
  { seed, most, observation }: { seed: number; most: number; observation: string },
): Walk {
  const random = createRandom(seed)
  let state = constraint.start()
  let stream = new TextStream(tokenizer, { continuation: true })
  let text = ''
  let queue: number[] = []
  let steps = 0
  for (; steps < most && !state.ended; steps++) {
    if (state.awaitsObservation) {
      const block = `\n${renderStep(grammar, { agent: grammar.observation!.name, text: observation })}\n`
      text += stream.finish() + block
      stream = new TextStream(tokenizer, { continuation: true })
      state = state.inserted(block)
      queue = []
    }
    const mask = state.allowed()
    if (queue.length === 0 && random(3) > 0) {
      const ways = waysOut(grammar, text)
      queue = [...tokenizer.encodeContinuation(ways[random(ways.length)]!).ids]
    }
    let token = queue.shift()
    if (token === undefined || mask[token] === 0) {
      queue = []
      const allowed = allowedIn(mask)
      if (allowed.length === 0) return { text, state, steps, stuck: true }
      token = allowed[random(allowed.length)]!
    }
    state = state.after(token)
    text += stream.push(token)
  }
  return { text: text + stream.finish(), state, steps, stuck: false }
}

/** Problems in a walk's text, apart from being unfinished. */
export function faults(grammar: Grammar, { text, state }: Walk): string[] {
  const chain: Chain = parseChain(grammar, text, { strict: true })
  const found = chain.diagnostics.filter(({ code }) => code !== 'unclosed-tag' || state.ended)
  const order = chain.order.violations.filter((violation) => violation.found !== null || state.ended)
  const isRead = ({ kind, closed }: Chain['blocks'][number]): boolean => closed && kind === 'tool'
  const unread = chain.blocks.filter(isRead).length - chain.calls.length
  return [
    ...unfinishedTag(grammar, chain, found),
    ...order.map(({ message }) => message),
    ...(unread === 0 ? [] : [`${unread} calls were not read`]),
    ...(state.ended && chain.answer === null ? ['the answer was not read'] : []),
  ]
}

/** A tag cut off by the end of the walk is stray text to the parser; it must be the prefix of one. */
function unfinishedTag(grammar: Grammar, chain: Chain, found: Chain['diagnostics']): string[] {
  const rest = chain.raw.slice(chain.blocks.at(-1)?.end ?? 0)
  const beginsTag = [...grammar.agents.values()].some(
    ({ tag, kind }) => kind !== 'observation' && `\n<${tag}>`.startsWith(`\n${rest.trimStart()}`),
  )
  return found
    .filter(({ code }) => !(code === 'stray-text' && beginsTag && rest.trim() !== ''))
    .map(({ code, message }) => `${code}: ${message}`)
}
