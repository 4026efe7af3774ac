import type { World } from '../agent/index.ts'
import { digestOf } from '../base/digests/index.ts'
import type { Spotlight } from '../base/progress/index.ts'
import { encodePrompt, type Tokenizer } from '../language/tokens/index.ts'
import { attemptOfTrajectory, type Solver, tokenizerName } from '../stages/eval/index.ts'
import { solveAsTeam, type TeamConfig, teamOf } from '../stages/teach/index.ts'

/** The configured team as a solver. Its tokens are counted with the tokenizer of the model it is compared with. */
export async function teamSolver(
  config: TeamConfig,
  world: World,
  tokenizer: Tokenizer,
  spotlight?: Spotlight,
): Promise<Solver> {
  const team = await teamOf(config)
  const { teach, teacher } = config
  const isModel = teach.mind === 'model'
  return {
    name: team.name,
    kind: isModel ? 'team' : 'scripted team',
    how: digestOf(
      team.name,
      team.limits,
      team.reflectEvery,
      isModel ? [teacher.base_url, teacher.model] : [],
    ),
    tokenizer: tokenizerName(tokenizer),
    async solve(task, _attempt, seed, signal) {
      const trajectory = await solveAsTeam(task, team, seed, {
        grammar: await world.grammarOf(task),
        tools: await world.toolsOf(task),
        countTokens: (messages, written) => ({
          prompt: encodePrompt(tokenizer, messages).length,
          completion: tokenizer.encodeIds(written, { specials: 'text' }).length,
        }),
        calling: world.calling,
        check: world.check,
        signal,
        spotlight,
      })
      return attemptOfTrajectory(trajectory, tokenizer)
    },
  }
}
