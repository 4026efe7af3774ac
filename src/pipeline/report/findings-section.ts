import { diagnose, stepRows } from '../../stages/rl/index.ts'
import type { MetricRow } from '../../store/index.ts'
import { type Html, html } from './html.ts'

/** Problems found in RL training; undefined if there was none. */
export function findingsSection(rows: readonly MetricRow[]): Html | undefined {
  const steps = stepRows(rows).length
  if (steps === 0) return undefined
  const findings = diagnose(rows)
  return html`<section aria-labelledby="findings"><h2 id="findings">Problems found</h2>
${findings.length === 0 ? html`<p>None in ${steps} ${steps === 1 ? 'step' : 'steps'} of RL${steps < 10 ? '. Rules that compare the first steps with the last need at least ten' : ''}.</p>` : html`<dl class="findings">${findings.map(({ what, cause, advice, step }) => html`<dt>${what} <small>at step ${step}</small></dt><dd>Likely ${cause}. ${advice}</dd>`)}</dl>`}</section>`
}
