import { percent, whole } from '../../base/text/index.ts'
import type { Funnel } from '../../stages/filter/index.ts'
import { type Html, html } from './html.ts'

/** What each filter kept, and why the rest was dropped. */
export function funnelSection(funnel: Funnel): Html {
  const { sequences, kept, copies, stages, reasons } = funnel
  return html`<section aria-labelledby="funnel"><h2 id="funnel">Filtering</h2>
<p>${whole(kept)} of ${whole(sequences)} chains were kept (${percent(kept / sequences)}), ${whole(copies)} counting weights. <a href="filter/funnel.html">Full funnel</a></p>
<table class="funnel"><thead><tr><th scope="col">filter</th><th scope="col">left</th><th scope="col">dropped</th><td></td></tr></thead>
<tbody>${stages.map(({ name, before, after }) => html`<tr><th scope="row">${name}</th><td>${whole(after)}</td><td>${before === after ? '–' : whole(before - after)}</td><td>${bar(after, before, sequences)}</td></tr>`)}</tbody></table>
${reasons.length === 0 ? html`<p class="note">Nothing was dropped.</p>` : html`<details><summary>Why ${whole(sequences - kept)} were dropped</summary><ul>${reasons.map(({ stage, reason, count }) => html`<li>${whole(count)} ${reason} <small>${stage}</small></li>`)}</ul></details>`}</section>`
}

/** The remaining share in full color, the previous one behind it. */
function bar(left: number, before: number, most: number): Html {
  const width = (value: number): string => (most === 0 ? '0' : ((100 * value) / most).toFixed(2))
  return html`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="before" width="${width(before)}" height="10"/><rect class="left" width="${width(left)}" height="10"/></svg>`
}
