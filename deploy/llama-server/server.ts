import type { Config, TextStream } from './loop.ts'
import { separated } from './words.ts'

/** A text on llama-server, kept as token ids, so that nothing is tokenized twice. */
export class Stream implements TextStream {
  readonly #config: Config
  readonly #url: string
  readonly #ids: number[] = []

  constructor(config: Config, url = 'http://127.0.0.1:8080') {
    this.#config = config
    this.#url = url
  }

  async append(text: string): Promise<void> {
    const { tokens } = await this.#post<{ tokens: number[] }>('/tokenize', {
      content: separated(text, this.#config),
      add_special: false,
      parse_special: true,
    })
    this.#ids.push(...tokens)
  }

  async generate(maxTokens: number) {
    const found = await this.#post<{
      content: string
      tokens: number[]
      stop_type: 'word' | 'eos' | 'limit'
      stopping_word: string
    }>('/completion', {
      prompt: this.#ids,
      n_predict: maxTokens,
      stop: this.#config.stop,
      temperature: 0,
      samplers: ['temperature'],
      cache_prompt: true,
      return_tokens: true,
    })
    this.#ids.push(...found.tokens)
    const isEnd = found.stop_type !== 'word'
    return {
      text: found.content + (isEnd ? '' : found.stopping_word),
      tokens: found.tokens.length,
      isEnd,
      isCut: false,
    }
  }

  async #post<T>(path: string, body: object): Promise<T> {
    const response = await fetch(this.#url + path, { method: 'POST', body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`llama-server: ${await response.text()}`)
    return (await response.json()) as T
  }
}
