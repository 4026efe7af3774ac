import { at, isObject } from '../../../logs/index.ts'
import { parseJson } from '../../../schema/index.ts'

/** What vLLM is asked to report in addition. */
const wanted = { return_token_ids: true, logprobs: true } as const

/** Which of these a request does not set itself. */
export const addedTo = (body: unknown): string[] =>
  isObject(body) && Object.keys(body).length > 0 ? Object.keys(wanted).filter((key) => !(key in body)) : []

/** The body with the fields put before its first one; everything else keeps its bytes. */
export function withFields(body: Buffer, fields: readonly string[]): Buffer {
  if (fields.length === 0) return body
  const start = body.indexOf('{') + 1
  const added = fields.map((field) => `${JSON.stringify(field)}:true,`).join('')
  return Buffer.concat([body.subarray(0, start), Buffer.from(added), body.subarray(start)])
}

/** The body of a response without what was added for the record. */
function withoutTokens(text: string, fields: readonly string[]): string {
  const body = parsed(text)
  if (!isObject(body)) return text
  if (fields.includes('return_token_ids')) delete body['prompt_token_ids']
  const choices = at(body, 'choices')
  for (const choice of Array.isArray(choices) ? choices : []) {
    if (!isObject(choice)) continue
    if (fields.includes('return_token_ids')) delete choice['token_ids']
    if (fields.includes('logprobs') && 'logprobs' in choice) choice['logprobs'] = null
  }
  return JSON.stringify(body)
}

/** The same for a stream, line by line. */
export class TokenFilter {
  readonly #fields: readonly string[]
  readonly #isStream: boolean
  readonly #decoder = new TextDecoder()
  #rest = ''

  constructor(fields: readonly string[], isStream: boolean) {
    this.#fields = fields
    this.#isStream = isStream
  }

  /** What can be passed on so far. */
  pass(bytes: Uint8Array): string {
    this.#rest += this.#decoder.decode(bytes, { stream: true })
    if (!this.#isStream) return ''
    const end = this.#rest.lastIndexOf('\n') + 1
    const lines = this.#rest.slice(0, end)
    this.#rest = this.#rest.slice(end)
    return lines.replace(/^data: ?(\{.*\})(\r?)$/gm, (_, json: string, feed: string) => {
      return `data: ${withoutTokens(json, this.#fields)}${feed}`
    })
  }

  /** What was held back. */
  end(): string {
    return this.#isStream ? this.#rest : withoutTokens(this.#rest, this.#fields)
  }
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
