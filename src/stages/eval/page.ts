import { escapeHtml, htmlPage, htmlTable, percent } from '../../base/text/index.ts'
import type { Estimate, EvalReport, SolverReport } from '../../schema/index.ts'
import { groupsOf } from './markdown.ts'
import { amount, bounds, headline, money, notes, percentWithin, probability } from './report-text.ts'

/** The report as a self-contained page: no network, no JavaScript, light and dark, phone and desktop. */
export function drawReport(report: EvalReport): string {
  const { solvers, suites, pairs } = report
  const several = solvers.some(({ attempts }) => attempts > 1)
  return htmlPage(
    'Evaluation',
    style,
    `<h1>${solvers.map(({ name }) => escapeHtml(name)).join(', ')} <small>${suites.map(({ suite, tasks }) => `${escapeHtml(suite)}: ${amount(tasks)} tasks`).join(', ')}</small></h1>
${pairs.map((pair) => `<p class="lead${pair.isEqualOrBetter ? '' : ' worse'}">${escapeHtml(headline(pair))}</p>`).join('\n')}
<h2>Accuracy</h2>
${rows(solvers, ({ accuracy }) => accuracy.strict, percentOf, 1)}
${outcomeTable(solvers)}
${several ? `<h2>Several attempts</h2>\n${drawScaling(solvers)}\n${key(solvers)}\n${pickTable(solvers)}` : ''}
<h2>Tokens per attempt, each counted once</h2>
${rows(solvers, ({ tokens }) => tokens.once, amountOf)}
<h2>Tokens per attempt, every prompt billed in full</h2>
${rows(solvers, ({ tokens }) => tokens.billed, amountOf)}
<h2>Tokens per correct answer, each counted once</h2>
${rows(solvers, ({ tokensPerSuccess }) => tokensPerSuccess.once, amountOf)}
<h2>Tokens, calls, time and cost</h2>
${effortTable(solvers)}
${pairs.length === 0 ? '' : `<h2>Paired comparison</h2>\n${pairTable(report)}`}
<h2>By suite, level and hops</h2>
${table(
  ['', 'tasks', ...solvers.map(({ name }) => escapeHtml(name))],
  groupsOf(solvers).map(({ field, value, tasks, shares }) => [
    `${field} ${escapeHtml(value)}`,
    amount(tasks),
    ...shares.map((share) =>
      share === null ? '–' : `${percent(share.value)}<small>${bounds(share)}</small>`,
    ),
  ]),
)}
<h2>Notes</h2>
<ul>${notes(report)
      .map((note) => `<li>${escapeHtml(note)}</li>`)
      .join('')}</ul>`,
  )
}

const percentOf = (estimate: Estimate): string =>
  `${percent(estimate.value)} <small>${bounds(estimate)}</small>`
const amountOf = ({ value, low, high }: Estimate): string =>
  `${amount(value)} <small>[${amount(low)}, ${amount(high)}]</small>`

/** One bar per solver, with its interval as a thin line. */
function rows(
  solvers: readonly SolverReport[],
  of: (solver: SolverReport) => Estimate | null,
  write: (estimate: Estimate) => string,
  most = Math.max(...solvers.map((solver) => of(solver)?.high ?? 0)),
): string {
  const width = (value: number): string => (most === 0 ? '0' : ((100 * value) / most).toFixed(2))
  const bars = solvers.map((solver, at) => {
    const estimate = of(solver)
    const name = `<span>${escapeHtml(solver.name)}</span>`
    if (estimate === null) return `<div class="row">${name}<div class="track"></div><span>–</span></div>`
    const { value, low, high } = estimate
    return `<div class="row">${name}<div class="track"><i style="width:${width(value)}%;background:var(--s${at % 6})"></i><b style="left:${width(low)}%;width:${width(high - low)}%"></b></div><span>${write(estimate)}</span></div>`
  })
  return `<div class="rows">${bars.join('\n')}</div>`
}

function key(solvers: readonly SolverReport[]): string {
  const names = solvers.map(
    ({ name }, at) => `<span><i style="background:var(--s${at % 6})"></i>${escapeHtml(name)}</span>`,
  )
  return `<p class="key"><span>x: attempts, y: share of tasks solved</span>${names.join('')}</p>`
}

/** A table that scrolls on a narrow screen. */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return `<div class="scroll">${htmlTable(heads, rows)}</div>`
}

function outcomeTable(solvers: readonly SolverReport[]): string {
  return table(
    [
      'solver',
      'correct',
      'wrong',
      'of which unanswered',
      'undecided',
      'failed',
      'accuracy (decided)',
      'well formed',
    ],
    solvers.map(({ name, counts, accuracy, wellFormed }) => [
      escapeHtml(name),
      ...(['correct', 'wrong', 'unanswered', 'undecided', 'failed'] as const).map((one) =>
        amount(counts[one]),
      ),
      percentWithin(accuracy.decided),
      percent(wellFormed),
    ]),
  )
}

function pickTable(solvers: readonly SolverReport[]): string {
  return table(
    ['solver', 'attempts', 'average', 'majority', 'best'],
    solvers.map(({ name, attempts, accuracy, majority, best }) => [
      escapeHtml(name),
      amount(attempts),
      percentWithin(accuracy.strict),
      percentWithin(majority),
      best === null ? '–' : `${percentWithin(best)}<small>${escapeHtml(best.picker)}</small>`,
    ]),
  )
}

function effortTable(solvers: readonly SolverReport[]): string {
  return table(
    [
      'solver',
      'prompt',
      'written',
      'from tools',
      'calls',
      'requests',
      'seconds',
      'cost billed',
      'cost once',
      'cost per correct answer',
    ],
    solvers.map(({ name, kind, tokens, calls, requests, ms, cost }) => [
      `${escapeHtml(name)}<small>${escapeHtml(kind)}</small>`,
      amount(tokens.prompt.value),
      amount(tokens.completion.value),
      amount(tokens.tool.value),
      amount(calls.value),
      amount(requests.value),
      amount(ms.value / 1000),
      money(cost?.billed ?? null),
      money(cost?.once ?? null),
      money(cost?.billedPerSuccess ?? null),
    ]),
  )
}

function pairTable({ pairs }: EvalReport): string {
  return table(
    [
      'pair',
      'both correct',
      'only the first',
      'only the second',
      'neither',
      'left out',
      'McNemar',
      'saved per correct answer',
    ],
    pairs.map(({ reference, solver, outcomes, p, saved }) => [
      escapeHtml(`${reference}, ${solver}`),
      ...(['both', 'onlyReference', 'onlySolver', 'neither', 'leftOut'] as const).map((one) =>
        amount(outcomes[one]),
      ),
      probability(p),
      `${percentWithin(saved.oncePerSuccess)}<small>billed ${percentWithin(saved.billedPerSuccess)}</small>`,
    ]),
  )
}

const WIDTH = 640
const HEIGHT = 260
const LEFT = 60
const FLOOR = 228
const TOP = 12

/** Plots pass@k against k, one line per solver. */
function drawScaling(solvers: readonly SolverReport[]): string {
  const ks = [...new Set(solvers.flatMap(({ pass }) => pass.map(({ k }) => k)))].sort((a, b) => a - b)
  const x = (k: number): number => LEFT + ((WIDTH - LEFT - 20) * ks.indexOf(k)) / Math.max(1, ks.length - 1)
  const y = (share: number): number => FLOOR - (FLOOR - TOP) * share
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<line class="grid" x1="${LEFT}" x2="${WIDTH}" y1="${y(share)}" y2="${y(share)}"/><text x="0" y="${y(share) + 4}">${percent(share, 0)}</text>`,
  )
  const labels = ks.map(
    (k) => `<text x="${x(k).toFixed(1)}" y="${HEIGHT - 8}" text-anchor="middle">${k}</text>`,
  )
  const lines = solvers.map(({ name, pass }, at) => {
    const points = pass.map(({ k, strict }) => `${x(k).toFixed(1)},${y(strict.value).toFixed(1)}`)
    const dots = pass.map(
      ({ k, strict }) =>
        `<line x1="${x(k).toFixed(1)}" x2="${x(k).toFixed(1)}" y1="${y(strict.low).toFixed(1)}" y2="${y(strict.high).toFixed(1)}" stroke="var(--s${at % 6})" opacity=".45" stroke-width="2"/><circle cx="${x(k).toFixed(1)}" cy="${y(strict.value).toFixed(1)}" r="4" fill="var(--s${at % 6})"><title>${escapeHtml(name)}, pass@${k}: ${percent(strict.value)}</title></circle>`,
    )
    return `<polyline class="line" stroke="var(--s${at % 6})" points="${points.join(' ')}"/>${dots.join('')}`
  })
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="pass@k by number of attempts">${grid.join('')}${labels.join('')}${lines.join('')}</svg>`
}

const style = `
main{max-width:860px;margin:0 auto;padding:24px 16px 64px}
.lead{border-left:3px solid var(--s0);padding:2px 0 2px 12px;margin:12px 0}
.scroll{overflow-x:auto}
th,td{padding:4px 14px 4px 0;vertical-align:top}
td:first-child{min-width:7em}
td small{display:block}
.rows{display:grid;gap:10px}
.row{display:grid;grid-template-columns:9em 1fr 11em;gap:4px 12px;align-items:center}
.row span:first-child{overflow-wrap:anywhere}
.row span:last-child{font-variant-numeric:tabular-nums}
.rows+.scroll{margin-top:14px}
.worse{border-color:var(--s1)}
.track{position:relative;height:16px;background:var(--line);border-radius:3px}
.track i{position:absolute;inset:0 auto 0 0;border-radius:3px}
.track b{position:absolute;top:6px;height:4px;background:var(--ink);opacity:.55;border-radius:2px}
svg text{fill:var(--faint);font-size:12px}
svg .line{fill:none;stroke-width:2.5}
svg .grid{stroke:var(--line)}
.key{color:var(--faint);font-size:.85em;margin:6px 0;display:flex;flex-wrap:wrap;gap:4px 16px}
.key i{margin-right:6px}
ul{padding-left:20px;color:var(--faint);font-size:.9em}
@media (max-width:560px){
.row{grid-template-columns:1fr auto}
.track{grid-column:1/-1;grid-row:2}
svg text{font-size:18px}
}
`
