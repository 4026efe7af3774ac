import type { ModelAnswer, ModelApi, ModelRequest } from '../../../logs/index.ts'
import { asText, at, errorOf, looksStreamed, modelApis, readStream } from '../../../logs/index.ts'
import { parseJson } from '../../../schema/index.ts'
import type { Ending, Entry } from './journal.ts'

/** One call of a model, as its journal tells it. */
export interface Exchange {
  number: number
  at: number
  agent: string
  api: ModelApi
  /** Undefined if it is excluded. */
  body: unknown
  retryOf?: number
  status?: number
  streamed: boolean
  text: string
  ending?: Ending
  excluded: boolean
}

/** The exchanges of a journal, in the order of their requests. */
export function exchangesIn(entries: readonly Entry[]): Exchange[] {
  const exchanges = new Map<number, Exchange>()
  for (const entry of entries) {
    if (entry.entry === 'request') {
      const { exchange: number, at, agent, api, body, retryOf } = entry
      exchanges.set(number, {
        number,
        at,
        agent,
        api: modelApis.find(({ name }) => name === api) ?? modelApis[0]!,
        body: body === undefined ? undefined : jsonOr(body),
        ...(retryOf === undefined ? {} : { retryOf }),
        streamed: false,
        text: '',
        excluded: body === undefined,
      })
    } else if ('exchange' in entry) {
      const exchange = exchanges.get(entry.exchange)
      if (exchange === undefined) continue
      if (entry.entry === 'response')
        Object.assign(exchange, { status: entry.status, streamed: entry.streamed })
      else if (entry.entry === 'body') exchange.text += entry.text
      else {
        exchange.ending = entry.ending
        exchange.excluded ||= entry.excluded === true
      }
    }
  }
  return [...exchanges.values()]
}

export const requestOf = ({ api, body }: Pick<Exchange, 'api' | 'body'>): ModelRequest => api.request(body)

type Answered = Pick<Exchange, 'api' | 'text' | 'streamed'> & { status?: number; ending?: Ending }

/** The body of a response, or what a stream adds up to, and what cannot be read. Some servers name the wrong kind of content. */
export function readAnswer({ api, text, streamed }: Answered): { body: unknown; unread: readonly string[] } {
  const whole = jsonOr(text)
  if (typeof whole !== 'string') return { body: whole, unread: [] }
  if (!streamed && !looksStreamed(text)) return { body: text, unread: [text] }
  const { events, unread } = readStream(text)
  return { body: api.join(events), unread }
}

/** What the model answered, as far as it got. */
export function answerOf(answered: Answered): ModelAnswer {
  const { api, status = 200, ending = 'upstream gone' } = answered
  const { body } = readAnswer(answered)
  const isError = status >= 400
  const answer = isError ? { turns: [] } : api.answer(body)
  const error = isError ? `${status}: ${errorText(body)}` : (endings[ending] ?? answer.error)
  return { ...answer, ...(error === undefined ? {} : { error }) }
}

const endings: Record<Ending, string | undefined> = {
  complete: undefined,
  'client gone': 'the app closed the connection before the answer was complete',
  'upstream gone': 'the answer broke off',
  unreachable: 'the upstream could not be reached',
}

const errorText = (body: unknown): string => (errorOf(at(body, 'error')) ?? asText(body)).slice(0, 500)

function jsonOr(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return text
  }
}
