import { escapeHtml, percent, whole } from '../../base/text/index.ts'
import type { Funnel } from './funnel.ts'
import { style } from './funnel-style.ts'
import { drawHistogram } from './histogram.ts'

/** The funnel as one file that needs nothing else: no network, no script, light and dark, wide and narrow. */
export function drawFunnel(funnel: Funnel, runId: string): string {
  const { sequences, kept, copies, upSampled, passedOver } = funnel
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Filter funnel · ${escapeHtml(runId)}</title>
<style>${style}</style>
<main>
<h1>What was kept, and why not the rest <small>${escapeHtml(runId)}</small></h1>
<dl class="figures">
${figure('sequences', whole(sequences))}
${figure('kept', whole(kept))}
${figure('retention', percent(kept / sequences))}
${figure('copies', whole(copies))}
${figure('up-sampled', whole(upSampled))}
${passedOver === 0 ? '' : figure('not looked at', whole(passedOver))}
</dl>
<h2>Stage by stage</h2>
${table(
  ['stage', 'left', 'dropped', ''],
  funnel.stages.map(({ name, before, after }) => [
    name,
    `${whole(after)} <small>${percent(after / sequences)}</small>`,
    before === after ? '–' : whole(before - after),
    bar(after, before, sequences),
  ]),
)}
<h2>Tool calls of a sequence</h2>
${drawHistogram(funnel.interactions)}
<p class="key"><i class="all"></i> all <i class="kept"></i> kept</p>
<h2>Suites</h2>
${table(
  ['suite', 'kept', 'of', ''],
  funnel.suites.map(({ suite, all, kept }) => [
    escapeHtml(suite),
    `${whole(kept)} <small>${percent(kept / all)}</small>`,
    whole(all),
    bar(kept, all, sequences),
  ]),
)}
<h2>Tools</h2>
${table(
  ['tool', 'calls kept', 'of', ''],
  funnel.tools.map(({ tool, calls }) => [
    escapeHtml(tool),
    `${whole(calls.kept)} <small>${percent(calls.kept / calls.all)}</small>`,
    whole(calls.all),
    bar(calls.kept, calls.all, Math.max(...funnel.tools.map((other) => other.calls.all))),
  ]),
)}
<h2>Reasons</h2>
${funnel.reasons.map((reason) => describeReason(reason, sequences)).join('\n') || '<p>Nothing was dropped.</p>'}
</main>
</html>
`
}

function figure(name: string, value: string): string {
  return `<div><dt>${name}</dt><dd>${value}</dd></div>`
}

/** The last column holds bars and takes the room that is left. */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: string): string =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`
  return `<table><thead>${row(heads, 'th')}</thead><tbody>${rows.map((cells) => row(cells, 'td')).join('')}</tbody></table>`
}

/** What is left in full colour, what was there before behind it. */
function bar(left: number, before: number, most: number): string {
  const width = (value: number): string => (most === 0 ? '0' : ((100 * value) / most).toFixed(2))
  return `<div class="bar"><b style="width:${width(before)}%"></b><i style="width:${width(left)}%"></i></div>`
}

function describeReason(reason: Funnel['reasons'][number], sequences: number): string {
  const examples = reason.examples.map(
    ({ id, detail }) => `<li><code>${escapeHtml(id)}</code> ${escapeHtml(detail)}</li>`,
  )
  return `<details><summary><span>${escapeHtml(reason.reason)} <small>${reason.stage}</small></span><b>${whole(reason.count)} <small>${percent(reason.count / sequences)}</small></b></summary><ul>${examples.join('')}</ul></details>`
}
