import { escapeHtml, htmlPage, htmlTable, percent, whole } from '../../base/text/index.ts'
import type { Funnel } from './funnel.ts'

/** The funnel as a self-contained page: no network, no JavaScript, light and dark, phone and desktop. */
export function drawFunnel(funnel: Funnel, runId: string): string {
  const { sequences, kept, copies, upSampled, passedOver, unchecked = 0, notes = [] } = funnel
  return htmlPage(
    `Filter funnel · ${runId}`,
    style,
    `<h1>Filter funnel <small>${escapeHtml(runId)}</small></h1>
<dl class="figures">
${figure('sequences', whole(sequences))}
${figure('kept', whole(kept))}
${figure('retention', percent(kept / sequences))}
${figure('copies', whole(copies))}
${figure('up-sampled', whole(upSampled))}
${passedOver === 0 ? '' : figure('skipped', whole(passedOver))}
${unchecked === 0 ? '' : figure('unchecked', whole(unchecked))}
</dl>
${notes.length === 0 ? '' : `<ul>${notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('')}</ul>`}
<h2>Stage by stage</h2>
${htmlTable(
  ['stage', 'left', 'dropped', ''],
  funnel.stages.map(({ name, before, after }) => [
    name,
    `${whole(after)} <small>${percent(after / sequences)}</small>`,
    before === after ? '–' : whole(before - after),
    bar(after, before, sequences),
  ]),
)}
<h2>Tool calls per sequence</h2>
${drawHistogram(funnel.interactions)}
<p class="key"><i class="all"></i> all <i class="kept"></i> kept</p>
<h2>Suites</h2>
${htmlTable(
  ['suite', 'kept', 'of', ''],
  funnel.suites.map(({ suite, all, kept }) => [
    escapeHtml(suite),
    `${whole(kept)} <small>${percent(kept / all)}</small>`,
    whole(all),
    bar(kept, all, sequences),
  ]),
)}
<h2>Tools</h2>
${htmlTable(
  ['tool', 'calls kept', 'of', ''],
  funnel.tools.map(({ tool, calls }) => [
    escapeHtml(tool),
    `${whole(calls.kept)} <small>${percent(calls.kept / calls.all)}</small>`,
    whole(calls.all),
    bar(calls.kept, calls.all, Math.max(...funnel.tools.map((other) => other.calls.all))),
  ]),
)}
<h2>Reasons</h2>
${funnel.reasons.map((reason) => describeReason(reason, sequences)).join('\n') || '<p>Nothing was dropped.</p>'}`,
  )
}

function figure(name: string, value: string): string {
  return `<div><dt>${name}</dt><dd>${value}</dd></div>`
}

/** The remaining share in full color, the previous one behind it. */
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

const WIDTH = 640
const HEIGHT = 200
const FLOOR = 176
const TOP = 16
/** Number of columns; larger values go into the last. */
const MOST = 25
/** With more columns, only every other one is labeled: on a phone the labels would overlap. */
const LABELS = 14

/** Histogram of tool calls per sequence: all sequences, with the kept ones in front. */
function drawHistogram(interactions: Funnel['interactions']): string {
  const columns = toColumns(interactions)
  const highest = Math.max(1, ...columns.map(({ all }) => all))
  const step = WIDTH / Math.max(1, columns.length)
  const rectangle = (count: number, index: number, name: string): string => {
    const height = ((FLOOR - TOP) * count) / highest
    return `<rect class="${name}" x="${(index * step + step * 0.12).toFixed(1)}" y="${(FLOOR - height).toFixed(1)}" width="${(step * 0.76).toFixed(1)}" height="${height.toFixed(1)}" rx="2"/>`
  }
  // Counted from the last column, whose label shows that it holds the rest.
  const shown = (index: number): boolean => columns.length <= LABELS || (columns.length - 1 - index) % 2 === 0
  const drawn = columns.map(({ label, all, kept }, index) => {
    const name = `<text x="${((index + 0.5) * step).toFixed(1)}" y="${HEIGHT - 6}">${label}</text>`
    return `<g><title>${label} tool calls: ${all} sequences, ${kept} kept</title>${rectangle(all, index, 'all')}${rectangle(kept, index, 'kept')}${shown(index) ? name : ''}</g>`
  })
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Sequences by number of tool calls"><text class="most" x="2" y="11">${highest.toLocaleString('en')}</text>${drawn.join('')}</svg>`
}

function toColumns(interactions: Funnel['interactions']): { label: string; all: number; kept: number }[] {
  const last = Math.min(MOST, Math.max(0, ...interactions.map((row) => row.interactions)))
  return Array.from({ length: last + 1 }, (_, calls) => {
    const rows = interactions.filter((row) => Math.min(row.interactions, MOST) === calls)
    const sum = (name: 'all' | 'kept'): number => rows.reduce((total, row) => total + row[name], 0)
    return { label: calls === MOST ? `${MOST}+` : `${calls}`, all: sum('all'), kept: sum('kept') }
  })
}

/** The last column of a table has bars and takes the remaining width. */
const style = `
main{max-width:760px;margin:0 auto;padding:24px 16px 64px}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(104px,1fr));gap:8px;margin:0}
.figures div{border:1px solid var(--line);border-radius:8px;padding:8px 12px}
dt{color:var(--faint);font-size:.82em}
dd{margin:0;font-size:1.3rem;font-variant-numeric:tabular-nums}
th,td{padding:4px 12px 4px 0}
td:last-child{width:45%;padding-right:0}
.bar{position:relative;height:14px;min-width:56px}
.bar b,.bar i{position:absolute;inset:0 auto 0 0;border-radius:3px}
.bar b,.all{background:var(--all);fill:var(--all)}
.bar i,.kept{background:var(--s0);fill:var(--s0)}
svg text{fill:var(--faint);font-size:11px;text-anchor:middle}
svg .most{text-anchor:start}
.key{color:var(--faint);font-size:.82em;margin:4px 0}
.key i{margin-left:12px}
details{border-bottom:1px solid var(--line)}
summary{display:flex;justify-content:space-between;gap:12px;padding:6px 0;cursor:pointer}
summary b{font-weight:500;white-space:nowrap;font-variant-numeric:tabular-nums}
summary span::before{content:"▸ ";color:var(--faint)}
details[open] summary span::before{content:"▾ "}
ul{margin:0 0 10px;padding-left:20px;overflow-wrap:anywhere}
code{font-size:.9em}
@media (max-width:540px){
tr{display:grid;grid-template-columns:1fr 8em 4em;border-bottom:1px solid var(--line);padding:4px 0}
th,td{border:0;padding:0}
th:last-child{display:none}
td:last-child{grid-column:1/-1;width:auto;padding:4px 0}
svg text{font-size:17px}
}
`
