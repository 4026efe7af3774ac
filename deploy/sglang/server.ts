import type { Config, TextStream } from './loop.ts'

/** A text on SGLang, continued through /generate. */
export class Stream implements TextStream {
  readonly #config: Config
  readonly #url: string
  #text = ''

  constructor(config: Config, url = 'http://127.0.0.1:30000') {
    this.#config = config
    this.#url = url
  }

  async append(text: string): Promise<void> {
    this.#text += text
  }

  async generate(maxTokens: number) {
    const response = await fetch(`${this.#url}/generate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        text: this.#text,
        sampling_params: {
          max_new_tokens: maxTokens,
          temperature: 0,
          stop: this.#config.stop,
          no_stop_trim: true,
          skip_special_tokens: false,
          spaces_between_special_tokens: false,
        },
      }),
    })
    if (!response.ok) throw new Error(`SGLang: ${await response.text()}`)
    const { text, meta_info: info } = (await response.json()) as {
      text: string
      meta_info: { completion_tokens: number; finish_reason: { type: string; matched?: string | number } }
    }
    this.#text += text
    return {
      text,
      tokens: info.completion_tokens,
      isEnd: typeof info.finish_reason.matched !== 'string',
      isCut: false,
    }
  }
}
