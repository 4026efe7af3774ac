import type { ChatModel } from '../../world/models/index.ts'
import type { MindMaker } from './contract.ts'
import { writeGuided } from './guided-reply.ts'

export interface MindSettings {
  temperature?: number
  maxTokens?: number
  /** Whether replies are guided, so that they cannot be malformed. Default: if the model can continue a reply. */
  constrained?: boolean
  /** Whether programs of guided models keep lines that are only comments. Default: yes. */
  comments?: boolean
}

/** Minds backed by models: one for every agent, with optional exceptions by agent name, which may have settings of their own. */
export function modelMinds(
  model: ChatModel,
  others: Record<string, ChatModel> = {},
  settings: MindSettings = {},
  otherSettings: Record<string, MindSettings> = {},
): MindMaker {
  return (_task, seed) => (agent) => {
    const own = others[agent.name] ?? model
    const merged = { ...settings, ...otherSettings[agent.name] }
    const { constrained = own.continues === true, temperature, maxTokens, comments = true } = merged
    const isGuided = constrained && own.continues === true
    return {
      name: own.name,
      isModel: true,
      isGuided,
      write: async (activation) => {
        if (isGuided)
          return writeGuided(own, activation, {
            temperature: temperature ?? 1,
            maxTokens: maxTokens ?? 1024,
            seed,
            comments,
          })
        const { messages, signal } = activation
        const { text, reasoning, attempts } = await own.complete({
          messages,
          seed,
          signal,
          ...(temperature === undefined ? {} : { temperature }),
          ...(maxTokens === undefined ? {} : { maxTokens }),
        })
        return { text, retries: attempts - 1, ...(reasoning === undefined ? {} : { reasoning }) }
      },
    }
  }
}
