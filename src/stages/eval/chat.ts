import type { Policy } from '../../agent/index.ts'
import { encodePrompt, type Tokenizer } from '../../language/tokens/index.ts'
import type { Message } from '../../schema/index.ts'
import type { ChatModel } from '../../world/models/index.ts'

interface SaySettings {
  temperature: number
  maxTokens: number
  seed: number
  signal: AbortSignal
  /** Ends with any of these, which are kept where the model keeps them. */
  stop: readonly string[]
}

/** A model one can talk to, with the tokenizer its words are counted with. */
export interface Chat {
  /** Digest of what answers. */
  how: unknown
  tokenizer: Tokenizer
  say(messages: readonly Message[], settings: SaySettings): Promise<string>
}

/** A model behind an OpenAI-compatible address. */
export function chatOfModel(model: ChatModel, tokenizer: Tokenizer): Chat {
  return {
    how: model.name,
    tokenizer,
    async say(messages, { temperature, maxTokens, seed, signal, stop }) {
      const { text, finish } = await model.complete({ messages, temperature, maxTokens, seed, signal, stop })
      if (finish !== 'stop') return text
      // Servers leave out the text they stopped at.
      const open = stop.find((end) => text.includes(end.replace('</', '<')) && !text.includes(end))
      return open === undefined ? text : text + open
    },
  }
}

/** The student's own weights, spoken to as a chat model. */
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
