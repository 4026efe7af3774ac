import { percent } from '../../../base/text/index.ts'
import { mean, type Rule, round } from './rule.ts'

const RECENT = 3

/** What samples and what learns do not agree on the same tokens. */
export const samplerMismatch: Rule = (rows) => {
  if (rows.length < RECENT) return undefined
  const late = rows.slice(-RECENT)
  const [mismatch, capped] = [mean(late, 'mismatch_mean'), mean(late, 'importance_capped_share')]
  // Weights that are a step older differ by what the step changed.
  const allowed = mean(late, 'staleness') > 0 ? 0.2 : 0.05
  if (!(mismatch >= allowed || capped >= 0.1)) return undefined
  return {
    what: `sampler and learner differ by ${round(mismatch)} nats a token on the same text; the weight of ${percent(capped, 0)} was cut`,
    cause: 'they compute with other kernels or another precision, or do not hold the same weights',
    advice:
      'Run `coa engine contract` on this engine, set rl.old_logprobs to "learner", keep rollout.top_p at 1 and rl.overlap at 0.',
  }
}
