import type { Rollout, Trajectory } from '../schema/index.ts'

export interface AgentTokens {
  agent: string
  /** Requests to a model. */
  requests: number
  prompt: number
  written: number
}

/** What each agent of a team took: every request with its whole prompt, as it was recorded. */
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

export interface StudentTokens {
  prompt: number
  sampled: number
  inserted: number
  requests: number
  /** The sum of the first three: what a server computes that remembers the stream. */
  once: number
  /** With the whole context of every request once more: what a service without memory charges for. */
  billed: number
}

/** What a rollout took, counted both ways. */
export function studentTokens({ segments }: Pick<Rollout, 'segments'>): StudentTokens {
  const counts = { prompt: 0, sampled: 0, inserted: 0 }
  let [requests, billed] = [0, 0]
  for (const { origin, tokens } of segments) {
    if (origin === 'sampled') {
      requests++
      billed += counts.prompt + counts.sampled + counts.inserted + tokens.length
    }
    counts[origin] += tokens.length
  }
  return { ...counts, requests, once: counts.prompt + counts.sampled + counts.inserted, billed }
}
