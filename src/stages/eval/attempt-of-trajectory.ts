import type { Tokenizer } from '../../language/tokens/index.ts'
import { Message, type Trajectory } from '../../schema/index.ts'
import type { Attempt } from './contract.ts'
import { TokenTally } from './token-tally.ts'

/** A team's run as an attempt, its tokens counted from what its agents were sent and wrote. */
export function attemptOfTrajectory(trajectory: Trajectory, tokenizer: Tokenizer): Attempt {
  const { events, answer, verdict, meta } = trajectory
  const tally = new TokenTally(tokenizer)
  const prompts = new Map<string, Message[]>()
  let calls = 0
  for (const event of events) {
    if (event.type === 'activated') prompts.set(event.id, event.messages.map(asMessage))
    if (event.type === 'wrote') tally.add(prompts.get(event.parent ?? '') ?? [], event.text)
    if (event.type === 'tool-answered') tally.addTool(event.output)
    if (event.type === 'tool-called') calls++
  }
  const failure = failureOf(events)
  return {
    ...(answer === undefined ? {} : { answer }),
    verdict: verdict ?? { outcome: 'undecided', checker: 'none', evidence: 'it was not checked' },
    tokens: tally.totals(),
    calls,
    requests: tally.requests,
    ms: Number(meta['ms'] ?? events.at(-1)?.t ?? 0),
    ...(failure === undefined ? {} : { failure }),
    written: { kind: 'trajectory', record: trajectory },
  }
}

/** Teams of others have roles of their own; for counting, what is not the agent's own came from outside. */
function asMessage({ role, content }: { role: string; content: string }): Message {
  return Message.safeParse({ role, content }).data ?? { role: 'user', content }
}

/** A run that ended because an agent wrote twice what cannot be used failed by its own doing: that is no answer. */
function failureOf(events: Trajectory['events']): Attempt['failure'] {
  const failed = events.findLast((event) => event.type === 'failed')
  if (failed === undefined) return undefined
  const before = events.at(events.indexOf(failed) - 1)
  if (before?.type === 'wrote' && before.said === undefined) return undefined
  return { boundary: failed.boundary, message: failed.message }
}
