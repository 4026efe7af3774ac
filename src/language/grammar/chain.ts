import type { AgentKind } from './definition.ts'
import type { Diagnostic } from './diagnostic.ts'
import { unescapeBody } from './escape.ts'
import type { ParseEvent, Utterance } from './events.ts'
import type { Grammar } from './grammar.ts'
import { ChainParser, type ParserOptions } from './parser.ts'
import { type Validation, validate } from './validate.ts'

/** One agent's turn: its name and text, unescaped. */
export interface Step {
  agent: string
  text: string
}

/** A step with its place in the raw text. */
export interface Block extends Step {
  kind: AgentKind
  /** Range of the block, tags included. */
  start: number
  end: number
  /** False if its closing tag is missing. */
  closed: boolean
}

export interface Chain {
  /** The text as it was given, untouched. */
  raw: string
  blocks: Block[]
  calls: Utterance[]
  answer: Utterance | null
  diagnostics: Diagnostic[]
  /** Whether the agents follow the grammar's order. */
  order: Validation
}

/**
 * Parses a complete text. Never throws; `diagnostics` and `order` say what is wrong with it.
 *
 * @example
 * import { loadGrammar, parseChain } from 'chain-of-agents'
 *
 * const text = '<think>Easy.</think><answer>21</answer>'
 * const { blocks, answer, diagnostics } = parseChain(await loadGrammar('math'), text)
 * console.log(blocks.map(({ agent }) => agent), answer?.payload, diagnostics)
 */
export function parseChain(grammar: Grammar, raw: string, options: ParserOptions = {}): Chain {
  const parser = new ChainParser(grammar, options)
  return collectChain(grammar, raw, [...parser.push(raw), ...parser.end()])
}

/** Builds a chain from parser events. */
export function collectChain(grammar: Grammar, raw: string, events: Iterable<ParseEvent>): Chain {
  const chain: Omit<Chain, 'order'> = { raw, blocks: [], calls: [], answer: null, diagnostics: [] }
  let open: { agent: string; start: number; bodyStart: number } | null = null
  const close = (bodyEnd: number, end: number, closed: boolean): void => {
    if (open === null) return
    const agent = grammar.agents.get(open.agent)!
    const text = unescapeBody(agent.tag, raw.slice(open.bodyStart, bodyEnd))
    chain.blocks.push({ agent: agent.name, kind: agent.kind, text, start: open.start, end, closed })
    open = null
  }
  for (const event of events) {
    if (event.type === 'agent-opened') open = { agent: event.agent, start: event.start, bodyStart: event.end }
    else if (event.type === 'agent-closed')
      close(event.start, event.end, raw[event.end - 1] === '>' && event.end > event.start)
    else if (event.type === 'call-ready') chain.calls.push(event.call)
    else if (event.type === 'answer-ready') chain.answer = event.answer
    else if (event.type === 'diagnostic') chain.diagnostics.push(event.diagnostic)
  }
  close(raw.length, raw.length, false)
  const order = validate(
    grammar,
    chain.blocks.map((block) => block.agent),
  )
  return { ...chain, order }
}

/**
 * True if the renderer could have written the chain: nothing was repaired, and the agents follow the grammar's order.
 *
 * @example
 * import { isWellFormed, loadGrammar, parseChain } from 'chain-of-agents'
 *
 * const chain = parseChain(await loadGrammar('math'), '<think>No closing tag')
 * console.log(isWellFormed(chain)) // false
 */
export function isWellFormed(chain: Chain): boolean {
  return chain.diagnostics.length === 0 && chain.order.ok
}
