import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Run } from '../../store/index.ts'
import { type Html, html } from './html.ts'

const places: readonly (readonly [path: string, what: string])[] = [
  ['manifest.json', 'the command and the status of each stage'],
  ['config.toml', 'the initial settings'],
  ['sft.toml', 'the settings of SFT'],
  ['rl.toml', 'the settings of RL'],
  ['events.jsonl', 'every record: tasks, trajectories, sequences, rollouts'],
  ['metrics.jsonl', 'the metrics of every step'],
  ['log.txt', 'log messages'],
  ['filter', 'which sequences were kept, and the funnel'],
  ['checkpoints', 'the models, as Hugging Face folders'],
  ['eval', 'evaluation reports'],
]

/** The files of the run, as relative paths: the page may be shared and must not reveal local paths. */
export function placesSection(run: Pick<Run, 'id' | 'dir' | 'files'>): Html {
  const there = places.filter(([path]) => isFilled(join(run.dir, path)))
  const checkpoints = foldersIn(run.files.checkpoints)
  return html`<section aria-labelledby="places"><h2 id="places">Files</h2>
<p>In the run folder <code>${run.id}</code>, next to this page:</p>
<dl class="places">${there.map(([path, what]) => html`<div><dt><code>${path}</code></dt><dd>${what}${path === 'checkpoints' && checkpoints.length > 0 ? `: ${checkpoints.join(', ')}` : ''}</dd></div>`)}</dl>
<p>Commands to explore the run:</p>
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
