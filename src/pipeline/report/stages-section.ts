import type { RunManifest } from '../../schema/index.ts'
import { duration, short } from './format.ts'
import { type Html, html } from './html.ts'

type StageEntry = RunManifest['stages'][string]

const purposes: Readonly<Record<string, string>> = {
  tasks: 'tasks with checkable answers',
  teach: 'a team of agents solved them with real tools',
  distill: 'team transcripts became single-agent sequences',
  filter: 'poor sequences were dropped, with reasons',
  sft: 'a model was trained on the sequences, tool output masked',
  rl: 'the model improved on its own rollouts with live tools',
  eval: 'team and models on the same held-out tasks',
  compare: 'team and models on the same held-out tasks',
}

const signs: Record<StageEntry['status'], string> = {
  done: '✓ done',
  running: '▸ running',
  failed: '✗ failed',
  interrupted: '○ interrupted',
}

/** The stages in order, with their results. */
export function stagesSection({ stages }: Pick<RunManifest, 'stages'>): Html | undefined {
  const entries = Object.entries(stages)
  if (entries.length === 0) return undefined
  return html`<section aria-labelledby="done"><h2 id="done">Stages</h2>
<ol class="stages">${entries.map(([name, stage]) => drawStage(name, stage))}</ol></section>`
}

function drawStage(name: string, { status, startedAt, endedAt, summary }: StageEntry): Html {
  const took = endedAt === undefined ? '' : duration(Date.parse(endedAt) - Date.parse(startedAt))
  const figures = Object.entries(summary).flatMap(([key, value]) =>
    typeof value === 'number' ? [{ key, value }] : [],
  )
  return html`<li><p><b>${name}</b> <span class="status ${status}">${signs[status]}</span> <small>${took}</small></p>
<p>${purposes[name] ?? ''}</p>
${figures.length === 0 ? '' : html`<ul class="figures">${figures.map(({ key, value }) => html`<li>${short(value)} <small>${words(key)}</small></li>`)}</ul>`}</li>`
}

/** "evalLoss" and "eval_loss" in words. */
function words(name: string): string {
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
}
