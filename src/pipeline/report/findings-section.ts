import { diagnose, stepRows } from '../../stages/rl/index.ts'
import type { MetricRow } from '../../store/index.ts'
import { type Html, html } from './html.ts'

/** What goes wrong in the reinforcement, in words; undefined where there was none. */
export function findingsSection(rows: readonly MetricRow[]): Html | undefined {
  const steps = stepRows(rows).length
  if (steps === 0) return undefined
  const findings = diagnose(rows)
  return html`<section aria-labelledby="findings"><h2 id="findings">What looks wrong</h2>
${findings.length === 0 ? html`<p>Nothing, in ${steps} ${steps === 1 ? 'step' : 'steps'} of reinforcement${steps < 10 ? '. Rules that compare the first steps with the last need ten' : ''}.</p>` : html`<dl class="findings">${findings.map(({ what, cause, advice, step }) => html`<dt>${what} <small>at step ${step}</small></dt><dd>Likely ${cause}. ${advice}</dd>`)}</dl>`}</section>`
}
