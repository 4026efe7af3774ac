import type { World } from '../agent/index.ts'
import { digestOf } from '../base/digests/index.ts'
import type { Spotlight } from '../base/progress/index.ts'
import { encodePrompt, type Tokenizer } from '../language/tokens/index.ts'
import { attemptOfTrajectory, type OpenSolver, tokenizerName } from '../stages/eval/index.ts'
import { solveAsTeam, type TeamConfig, teamOf } from '../stages/teach/index.ts'

/** The configured team as a solver. Its tokens are counted with the tokenizer of the model it is compared with. */
export async function teamSolver(
  config: TeamConfig,
  world: World,
  tokenizer: Tokenizer,
  spotlight?: Spotlight,
): Promise<OpenSolver> {
  const team = await teamOf(config)
  const { teach, teacher } = config
  const isModel = teach.mind === 'model'
  const solver: OpenSolver['solver'] = {
    name: team.name,
    kind: isModel ? 'team' : 'scripted team',
    how: digestOf(
      team.name,
      team.limits,
      team.reflectEvery,
      isModel ? [teacher.base_url, teacher.model] : [],
      ...(isModel ? [howModelsWork(teach, teacher)] : []),
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
  return { solver, close: async () => team.close?.() }
}

/** Settings that change what a team of models writes. */
function howModelsWork(
  { replies, constrained, examples, retries, worker_steps: steps }: TeamConfig['teach'],
  { temperature, max_tokens: maxTokens, agents }: TeamConfig['teacher'],
): unknown[] {
  const others = Object.entries(agents).map(([agent, own]) => [agent, own.base_url ?? '', own.model ?? ''])
  return [replies, constrained ?? null, examples, retries, steps, temperature, maxTokens, others]
}
