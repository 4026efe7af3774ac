import { ConfigError, EngineError } from '../../base/errors/index.ts'
import { removeState } from './checkpoints.ts'
import { type RlSettings, rlSettings } from './config.ts'
import type { RlContext } from './contract.ts'
import { type RlSummary, Training } from './training.ts'

/**
 * Trains the student on its own rollouts. If killed, it resumes from its last checkpoint; the steps after that are
 * repeated with the same seeds.
 */
export async function run(config: Parameters<typeof rlSettings>[0], context: RlContext): Promise<RlSummary> {
  const settings = rlSettings(config, { evaluates: context.evaluate !== undefined })
  refuse(settings, context)
  if (context.again === true) removeState(context.run)
  const training = new Training(settings, context)
  await training.resume()
  return training.run()
}

function refuse(settings: RlSettings, { student, tasks, evaluate, compare }: RlContext): void {
  const { missing } = student.engine.describe()
  const lacking = missing.train ?? missing.sample ?? missing.logprobs
  if (lacking !== undefined)
    throw new EngineError(`this engine cannot be used for RL: ${lacking}`, {
      fix: 'Set engine.driver to embedded or tinker.',
    })
  if (missing.temperature !== undefined && settings.temperature !== 1)
    throw new EngineError(
      `RL samples at rollout.temperature ${settings.temperature}, but this engine trains at temperature 1: ${missing.temperature}`,
      { fix: "Set rollout.temperature to 1, or use coa's trainer (`coa trainer start`)." },
    )
  if (tasks.length === 0)
    throw new ConfigError('there are no tasks to train on', { fix: 'Check tasks.suites and tasks.count.' })
  if (settings.reward === 'relative-judge' && compare === undefined)
    throw new ConfigError('rl.reward is "relative-judge", but nothing compares rollouts', {
      fix: 'Pass `compare`, or set rl.reward to "verdict".',
    })
  if (settings.kl > 0 && student.reference === undefined)
    throw new ConfigError('rl.kl needs the model that training started from, but none was given', {
      fix: 'Open it a second time and pass it as student.reference, or set rl.kl to 0.',
    })
  if (settings.keep === 'best' && (evaluate === undefined || settings.eval_every === 0))
    throw new ConfigError('rl.keep is "best", but nothing is evaluated', {
      fix: 'Set rl.eval_every and tasks.dev_count above 0, or set rl.keep to "last".',
    })
}
