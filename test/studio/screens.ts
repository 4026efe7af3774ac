import type { Page } from 'playwright-core'

type Row = Record<string, string> & { solvers: { name: string }[] }

/** Every screen of the newest run that the page's studio has, by name: the address after `#/`. */
export async function screensOf(page: Page): Promise<[name: string, hash: string][]> {
  const first = async (path: string): Promise<Row> => {
    const row = (await page.evaluate(
      `fetch('./api/${path}').then((response) => response.json()).then(({ rows }) => rows[0])`,
    )) as Row | undefined
    if (row === undefined) throw new Error(`nothing at ${path}`)
    return row
  }
  const id = encodeURIComponent
  const run = `runs/${id((await first('runs'))['id']!)}`
  const of = async (path: string, name = 'id'): Promise<string> => id((await first(`${run}/${path}`))[name]!)
  const [task, team, chain, group, rollout, pair] = await Promise.all([
    of('tasks'),
    of('trajectories'),
    of('chains'),
    of('groups'),
    of('rollouts'),
    of('compare', 'taskId'),
  ])
  const evaluation = await first(`${run}/evals`)
  const side = (index: number): string =>
    id([run.slice(5), id(evaluation['id']!), id(evaluation.solvers.at(index)!.name)].join('/'))
  const job = id((await first('jobs'))['id']!)
  return [
    ['runs', 'runs'],
    ['overview', run],
    ['curves', `${run}/curves`],
    ['all curves', `${run}/curves?all=1&smooth=0.6&log=1`],
    ['curves of any runs', `curves?runs=${run.slice(5)}`],
    ['tasks', `${run}/tasks`],
    ['task', `${run}/tasks/${task}`],
    ['team', `${run}/team`],
    ['trajectory', `${run}/team/${team}`],
    ['chains', `${run}/chains`],
    ['no chains', `${run}/chains?search=nothing-has-this`],
    ['chain', `${run}/chains/${chain}`],
    ['tokens', `${run}/chains/${chain}?view=tokens&token=3`],
    ['side by side', `${run}/both/${chain}?span=0`],
    ['filter', `${run}/filter`],
    ['groups', `${run}/groups?step=1`],
    ['group', `${run}/groups/${group}`],
    ['rollouts', `${run}/rollouts`],
    ['rollout', `${run}/rollouts/${rollout}`],
    ['advantages', `${run}/rollouts/${rollout}?view=tokens&color=advantage`],
    ['log-probabilities', `${run}/rollouts/${rollout}?view=tokens&color=logprob`],
    ['evaluations', `${run}/evals`],
    ['evaluation', `${run}/evals/${id(evaluation['id']!)}`],
    ['diff', `diff?before=${side(0)}&after=${side(-1)}`],
    ['team and model', `${run}/compare`],
    ['team and model on a task', `${run}/compare/${pair}`],
    ['checkpoints', `${run}/checkpoints`],
    ['settings', `${run}/settings?all=1`],
    ['start', 'new'],
    ['start with settings', 'new?kind=stage&stage=rl&find=rl'],
    ['ask', 'ask'],
    ['jobs', 'jobs'],
    ['job', `jobs/${job}`],
  ]
}
