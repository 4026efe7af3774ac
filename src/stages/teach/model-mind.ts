import type { ChatModel } from '../../world/models/index.ts'
import type { MindMaker } from './contract.ts'

/** Minds that are a model: the same for every agent, or another for some of them. */
export function modelMinds(
  model: ChatModel,
  others: Record<string, ChatModel> = {},
  settings: { temperature?: number; maxTokens?: number } = {},
): MindMaker {
  return (_task, seed) => (agent) => {
    const mind = others[agent.name] ?? model
    return {
      name: mind.name,
      write: async ({ messages, signal }) => {
        const { text, attempts } = await mind.complete({ messages, seed, signal, ...settings })
        return { text, retries: attempts - 1 }
      },
    }
  }
}
