import type { ChatModel } from '../../world/models/index.ts'
import type { MindMaker } from './contract.ts'

/** Minds backed by models: one for every agent, with optional exceptions by agent name. */
export function modelMinds(
  model: ChatModel,
  others: Record<string, ChatModel> = {},
  settings: { temperature?: number; maxTokens?: number } = {},
): MindMaker {
  return (_task, seed) => (agent) => {
    const own = others[agent.name] ?? model
    return {
      name: own.name,
      write: async ({ messages, signal }) => {
        const { text, attempts } = await own.complete({ messages, seed, signal, ...settings })
        return { text, retries: attempts - 1 }
      },
    }
  }
}
