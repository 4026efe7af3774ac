import type { Trajectory } from '../../schema/index.ts'

export interface AgentTokens {
  agent: string
  /** Model requests. */
  requests: number
  prompt: number
  written: number
}

/** Tokens per agent: every request with its whole prompt, as recorded. */
export function teamTokens({ events }: Pick<Trajectory, 'events'>): AgentTokens[] {
  const agents = new Map<string, AgentTokens>()
  for (const event of events) {
    if (event.type !== 'wrote') continue
    const own = agents.get(event.agent) ?? { agent: event.agent, requests: 0, prompt: 0, written: 0 }
    own.requests++
    own.prompt += event.usage?.promptTokens ?? 0
    own.written += event.usage?.completionTokens ?? 0
    agents.set(event.agent, own)
  }
  return [...agents.values()]
}
