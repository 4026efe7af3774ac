import type { RolloutSettings } from '../agent/index.ts'
import type { GgufReport } from '../engine/index.ts'
import type { Grammar } from '../language/grammar/index.ts'
import type { Tokenizer } from '../language/tokens/index.ts'
import type { ModelPrompt } from './model-prompt.ts'

/** coa.json: what the clients in deploy/ need to know about a model. */
export interface ClientConfig {
  /** The model's name on the server. */
  model: string
  prompt: { before: string; after: string }
  tags: Record<string, 'role' | 'tool' | 'observation' | 'answer'>
  observation: string
  /** Closing tags of the tools and of the answer. */
  stop: string[]
  controlTokens: string[]
  words: NonNullable<GgufReport['separation']> | null
  limits: { tokens: number; calls: number; context: number }
}

export interface ClientParts {
  name: string
  grammar: Grammar
  tokenizer: Tokenizer
  prompt: ModelPrompt
  contextLength: number
  limits: Pick<RolloutSettings, 'maxTokens' | 'maxTurns'>
  words?: GgufReport['separation']
  /** Whether the server adds the token for the beginning of a text itself. */
  serverAddsBegin: boolean
}

export function clientConfig(parts: ClientParts): ClientConfig {
  const { grammar, tokenizer, prompt, contextLength, limits } = parts
  const agents = [...grammar.agents.values()]
  const begin = parts.serverAddsBegin && addsBegin(tokenizer) ? tokenizer.bosToken! : ''
  return {
    model: parts.name,
    prompt: {
      before: prompt.before.startsWith(begin) ? prompt.before.slice(begin.length) : prompt.before,
      after: prompt.after,
    },
    tags: Object.fromEntries(agents.map(({ tag, kind }) => [tag, kind])),
    observation: grammar.observation?.tag ?? '',
    stop: stopTexts(grammar),
    controlTokens: [...tokenizer.controlTokens],
    words: parts.words ?? null,
    limits: {
      tokens: Math.min(limits.maxTokens, contextLength),
      calls: limits.maxTurns,
      context: contextLength,
    },
  }
}

export function stopTexts(grammar: Grammar): string[] {
  return [...grammar.agents.values()]
    .filter(({ kind }) => kind === 'tool' || kind === 'answer')
    .map(({ tag }) => `</${tag}>`)
}

function addsBegin(tokenizer: Tokenizer): boolean {
  return (
    tokenizer.bosId !== undefined &&
    tokenizer.encodeIds('', { addSpecialTokens: true })[0] === tokenizer.bosId
  )
}
