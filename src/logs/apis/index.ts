import { chat } from './chat.ts'
import type { ModelApi } from './contract.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'

export { errorOf, type ModelAnswer, type ModelApi, type ModelRequest } from './contract.ts'
export { looksStreamed, readStream } from './server-sent-events.ts'

/** All APIs whose calls are recorded; everything else is only relayed. */
export const modelApis: readonly ModelApi[] = [chat, responses, messages]
