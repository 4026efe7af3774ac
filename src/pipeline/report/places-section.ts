import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Run } from '../../store/index.ts'
import { type Html, html } from './html.ts'

const places: readonly (readonly [path: string, what: string])[] = [
  ['manifest.json', 'what was asked for and how far it came'],
  ['config.toml', 'the settings it began with'],
  ['sft.toml', 'the settings of fine-tuning'],
  ['rl.toml', 'the settings of reinforcement'],
  ['events.jsonl', 'every record: tasks, the team’s runs, chains, rollouts'],
  ['metrics.jsonl', 'every figure of every step'],
  ['log.txt', 'what was said on the way'],
  ['filter', 'which chains were kept, and the funnel'],
  ['checkpoints', 'the models, as Hugging Face folders'],
  ['eval', 'reports of evaluations'],
]

/** Where everything lies, as paths within the run folder: the page may be given away, and then they say nothing of a machine. */
export function placesSection(run: Pick<Run, 'id' | 'dir' | 'files'>): Html {
  const there = places.filter(([path]) => isFilled(join(run.dir, path)))
  const checkpoints = foldersIn(run.files.checkpoints)
  return html`<section aria-labelledby="places"><h2 id="places">Where everything lies</h2>
<p>In the folder of the run, <code>${run.id}</code>, beside this page:</p>
<dl class="places">${there.map(([path, what]) => html`<div><dt><code>${path}</code></dt><dd>${what}${path === 'checkpoints' && checkpoints.length > 0 ? `: ${checkpoints.join(', ')}` : ''}</dd></div>`)}</dl>
<p>To look further:</p>
<pre class="commands">coa run show ${run.id}
coa run metrics ${run.id}
coa run show ${run.id} --kind trajectory --jsonl</pre></section>`
}

function isFilled(path: string): boolean {
  if (!existsSync(path)) return false
  try {
    return readdirSync(path).length > 0
  } catch {
    return true
  }
}

function foldersIn(path: string): string[] {
  if (!existsSync(path)) return []
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort()
}
