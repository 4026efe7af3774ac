import { percent, whole } from '../../base/text/index.ts'
import type { Comparison, ComparisonRow } from './comparison.ts'
import { short } from './format.ts'
import { type Html, html } from './html.ts'

/** Accuracy and cost of each solver. */
export function comparisonSection({ rows, tasks, headline, counted }: Comparison): Html | undefined {
  const first = rows[0]
  if (first === undefined) return undefined
  const heads = [
    'solver',
    'accuracy',
    '95% interval',
    'tokens per task',
    'tokens per solved task',
    'tool calls',
    'time',
  ]
  return html`<section aria-labelledby="comparison"><h2 id="comparison">Comparison${tasks === undefined ? '' : html` <small>${whole(tasks)} held-out tasks</small>`}</h2>
${headline === undefined ? '' : html`<p class="headline">${headline}</p>`}
<table class="comparison"><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => drawRow(row, first))}</tbody></table>
<p class="note">Intervals are 95% confidence intervals. ${rows.length > 1 ? html`Changes are relative to ${first.solver}. ` : ''}${counted ?? ''}</p></section>`
}

function drawRow(row: ComparisonRow, first: ComparisonRow): Html {
  const [low, high] = row.interval
  const cell = (name: string, content: Html | string): Html =>
    html`<td><span class="name">${name} </span>${content}</td>`
  return html`<tr><th scope="row">${row.solver}</th>
${cell('accuracy', html`<b>${percent(row.accuracy)}</b>`)}
${cell('95% interval', html`<span class="between">${percent(low)} to ${percent(high)}</span>${drawInterval(row)}`)}
${cell('tokens per task', whole(row.tokensPerTask))}
${cell('tokens per solved task', row.tokensPerSolved === null ? '–' : html`${whole(row.tokensPerSolved)}${row === first ? '' : change(row.tokensPerSolved, first.tokensPerSolved)}`)}
${cell('tool calls', short(row.callsPerTask))}
${cell('time', `${short(row.secondsPerTask)} s`)}</tr>`
}

function change(own: number, reference: number | null): Html | string {
  if (reference === null || reference === 0) return ''
  const share = own / reference - 1
  return html` <small class="change">${share < 0 ? `${percent(-share)} fewer` : `${percent(share)} more`}</small>`
}

/** The interval as a line with the accuracy as a marker, from 0 to 100%. */
function drawInterval({ accuracy, interval: [low, high] }: ComparisonRow): Html {
  const at = (share: number): string => (2 + 96 * Math.min(1, Math.max(0, share))).toFixed(1)
  return html`<svg class="interval" viewBox="0 0 100 10" aria-hidden="true"><path class="scale" d="M2 5H98"/><path class="range" d="M${at(low)} 5H${at(high)}M${at(low)} 2v6M${at(high)} 2v6"/><circle cx="${at(accuracy)}" cy="5" r="2.6"/></svg>`
}
