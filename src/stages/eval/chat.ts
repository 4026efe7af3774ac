import type { Policy } from '../../agent/index.ts'
import { encodePrompt, type Tokenizer } from '../../language/tokens/index.ts'
import type { Message } from '../../schema/index.ts'
import type { ChatModel } from '../../world/models/index.ts'

interface SaySettings {
  temperature: number
  maxTokens: number
  seed: number
  signal: AbortSignal
  /** Stop texts, included in the reply if the model includes them. */
  stop: readonly string[]
}

/** A chat model and the tokenizer that counts its tokens. */
export interface Chat {
  /** Identifies the model, for digests. */
  how: unknown
  tokenizer: Tokenizer
  say(messages: readonly Message[], settings: SaySettings): Promise<string>
}

/** A model behind an OpenAI-compatible API. */
export function chatOfModel(model: ChatModel, tokenizer: Tokenizer): Chat {
  return {
    how: model.name,
    tokenizer,
    async say(messages, { temperature, maxTokens, seed, signal, stop }) {
      const { text, finish } = await model.complete({ messages, temperature, maxTokens, seed, signal, stop })
      if (finish !== 'stop') return text
      // Servers omit the stop text.
      const open = stop.find((end) => text.includes(end.replace('</', '<')) && !text.includes(end))
      return open === undefined ? text : text + open
    },
  }
}

/** The student's own weights as a chat model. */
export function chatOfPolicy({ engine, tokenizer, endTokens }: Policy, fingerprint: string): Chat {
  return {
    how: fingerprint,
    tokenizer,
    async say(messages, { temperature, maxTokens, seed, signal, stop }) {
      const prompt = encodePrompt(tokenizer, messages)
      const room = engine.describe().contextLength - prompt.length
      if (room < 1) return ''
      const [sample] = await engine.sample({
        prompt,
        maxTokens: Math.min(maxTokens, room),
        temperature,
        seed,
        stopTokens: endTokens,
        stopTexts: stop,
        signal,
      })
      return tokenizer.decode(sample!.tokens, { continuation: true, skipControlTokens: true })
    },
  }
}
