import type { Config, TextStream } from './loop.ts'
import { separated } from './words.ts'

/** A text on Ollama, sent as it is (`raw`): a chat message would be put into the template. */
export class Stream implements TextStream {
  readonly #config: Config
  readonly #url: string
  #text = ''

  constructor(config: Config, url = 'http://127.0.0.1:11434') {
    this.#config = config
    this.#url = url
  }

  async append(text: string): Promise<void> {
    this.#text += text
  }

  async generate(maxTokens: number) {
    const { model, stop, limits } = this.#config
    const response = await fetch(`${this.#url}/api/generate`, {
      method: 'POST',
      body: JSON.stringify({
        model,
        prompt: separated(this.#text, this.#config),
        raw: true,
        stream: false,
        options: { temperature: 0, repeat_penalty: 1, num_predict: maxTokens, num_ctx: limits.context, stop },
      }),
    })
    if (!response.ok) throw new Error(`Ollama: ${await response.text()}`)
    const found = (await response.json()) as { response: string; done_reason: string; eval_count: number }
    this.#text += found.response
    // It does not tell a stop text from the end of the text, and cuts the stop text off.
    return {
      text: found.response,
      tokens: found.eval_count,
      isEnd: true,
      isCut: found.done_reason === 'stop',
    }
  }
}
