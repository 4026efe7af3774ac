import type { Config, TextStream } from './loop.ts'

/** A text on vLLM, continued through /v1/completions. */
export class Stream implements TextStream {
  readonly #config: Config
  readonly #url: string
  #text = ''

  constructor(config: Config, url = 'http://127.0.0.1:8000') {
    this.#config = config
    this.#url = url
  }

  async append(text: string): Promise<void> {
    this.#text += text
  }

  async generate(maxTokens: number) {
    const { model, stop } = this.#config
    const response = await fetch(`${this.#url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        prompt: this.#text,
        max_tokens: maxTokens,
        temperature: 0,
        stop,
        include_stop_str_in_output: true,
        add_special_tokens: false,
        skip_special_tokens: false,
        spaces_between_special_tokens: false,
      }),
    })
    if (!response.ok) throw new Error(`vLLM: ${await response.text()}`)
    const { choices, usage } = (await response.json()) as {
      choices: [{ text: string; stop_reason: string | number | null }]
      usage: { completion_tokens: number }
    }
    const [{ text, stop_reason: reason }] = choices
    const isEnd = typeof reason !== 'string'
    // The end token is part of the text, since special tokens are not skipped.
    this.#text += text
    return { text, tokens: usage.completion_tokens, isEnd, isCut: false }
  }
}
