import { streamTokens } from '../../agent/index.ts'
import type { Rollout } from '../../schema/index.ts'
import type { Attempt } from './contract.ts'

/** A rollout of the student as an attempt. */
export function attemptOfRollout(rollout: Rollout): Attempt {
  const { answer, verdict, calls, wellFormed, ms, failure } = rollout
  const { requests, ...tokens } = streamTokens(rollout)
  return {
    ...(answer === undefined ? {} : { answer }),
    verdict: verdict ?? { outcome: 'undecided', checker: 'none', evidence: 'it was not checked' },
    tokens,
    calls: calls.length,
    requests,
    ms: Math.round(ms.sampling + ms.tools),
    wellFormed,
    ...(failure === undefined ? {} : { failure }),
    written: { kind: 'rollout', record: rollout },
  }
}
