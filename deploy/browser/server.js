import * as ort from './ort/ort.wasm.min.mjs'
import { Tokenizer } from './tokenizer.js'

ort.env.wasm.wasmPaths = new URL('ort/', import.meta.url).href
// Threads need headers that a plain file server does not send.
ort.env.wasm.numThreads = globalThis.crossOriginIsolated ? 0 : 1

const json = async (name) => {
  const response = await fetch(new URL(name, import.meta.url))
  if (!response.ok) throw new Error(`${name}: status ${response.status}`)
  return response.json()
}

/** Loads the model once; `openStream` starts a text on it. */
export async function loadModel() {
  const [config, notes, tokenizerJson] = await Promise.all([
    json('coa.json'),
    json('model.onnx.json'),
    json('tokenizer.json'),
  ])
  const session = await ort.InferenceSession.create(new URL('model.onnx', import.meta.url).href)
  const tokenizer = new Tokenizer(tokenizerJson)
  return { config, openStream: (onText) => new Stream({ config, notes, session, tokenizer, onText }) }
}

/** A text as token ids. Every token recomputes the whole text, which is fast enough for small models. */
class Stream {
  #parts
  #ids = []

  constructor(parts) {
    this.#parts = parts
  }

  async append(text) {
    this.#ids.push(...this.#parts.tokenizer.encode(text))
  }

  async generate(maxTokens) {
    const { config, notes, session, tokenizer, onText } = this.#parts
    const ends = new Set(notes.endTokens)
    const added = []
    let text = ''
    while (added.length < maxTokens && this.#ids.length < notes.contextLength) {
      const ids = new ort.Tensor('int64', BigInt64Array.from(this.#ids, BigInt), [1, this.#ids.length])
      const { logprobs } = await session.run({ ids })
      const next = logprobs.data
        .subarray(-logprobs.dims[2])
        .reduce((best, value, id, all) => (value > all[best] ? id : best), 0)
      logprobs.dispose()
      this.#ids.push(next)
      added.push(next)
      if (ends.has(next)) return { text, tokens: added.length, isEnd: true, isCut: false }
      text = tokenizer.decode(added)
      onText?.(text)
      if (config.stop.some((stop) => text.trimEnd().endsWith(stop)))
        return { text, tokens: added.length, isEnd: false, isCut: false }
      // Lets the page draw.
      await new Promise((resolve) => setTimeout(resolve))
    }
    return { text, tokens: added.length, isEnd: true, isCut: false }
  }
}
