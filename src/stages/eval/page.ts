import { escapeHtml, percent } from '../../base/text/index.ts'
import type { Estimate, EvalReport, SolverReport } from '../../schema/index.ts'
import { drawScaling } from './draw-scaling.ts'
import { headline } from './headline.ts'
import { groupsOf } from './markdown.ts'
import { notes } from './notes.ts'
import { style } from './page-style.ts'
import { amount, bounds, money, percentWithin, probability } from './page-text.ts'

/** The report as one file that needs nothing else: no network, no script, light and dark, wide and narrow. */
export function drawReport(report: EvalReport): string {
  const { solvers, suites, pairs } = report
  const several = solvers.some(({ attempts }) => attempts > 1)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Evaluation</title>
<style>${style}</style>
<main>
<h1>${solvers.map(({ name }) => escapeHtml(name)).join(', ')} <small>${suites.map(({ suite, tasks }) => `${escapeHtml(suite)}: ${amount(tasks)} tasks`).join(', ')}</small></h1>
${pairs.map((pair) => `<p class="lead${pair.isEqualOrBetter ? '' : ' worse'}">${escapeHtml(headline(pair))}</p>`).join('\n')}
<h2>Right answers, of all</h2>
${rows(solvers, ({ accuracy }) => accuracy.strict, percentOf, 1)}
${outcomeTable(solvers)}
${several ? `<h2>With several attempts</h2>\n${drawScaling(solvers)}\n${key(solvers)}\n${pickTable(solvers)}` : ''}
<h2>Tokens of an attempt, each counted once</h2>
${rows(solvers, ({ tokens }) => tokens.once, amountOf)}
<h2>Tokens of an attempt, every prompt billed again</h2>
${rows(solvers, ({ tokens }) => tokens.billed, amountOf)}
<h2>Tokens for a right answer, each counted once</h2>
${rows(solvers, ({ tokensPerSuccess }) => tokensPerSuccess.once, amountOf)}
<h2>What it takes</h2>
${effortTable(solvers)}
${pairs.length === 0 ? '' : `<h2>Task by task</h2>\n${pairTable(report)}`}
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
<h2>How it was counted</h2>
<ul>${notes(report)
    .map((note) => `<li>${escapeHtml(note)}</li>`)
    .join('')}</ul>
</main>
</html>
`
}

const percentOf = (estimate: Estimate): string =>
  `${percent(estimate.value)} <small>${bounds(estimate)}</small>`
const amountOf = ({ value, low, high }: Estimate): string =>
  `${amount(value)} <small>[${amount(low)}, ${amount(high)}]</small>`

/** A bar for each solver, its interval as a thin line. */
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
  return `<p class="key"><span>attempts across, tasks solved upwards</span>${names.join('')}</p>`
}

function table(heads: readonly string[], body: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: string): string =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`
  return `<div class="scroll"><table><thead>${row(heads, 'th')}</thead><tbody>${body.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>`
}

function outcomeTable(solvers: readonly SolverReport[]): string {
  return table(
    ['solver', 'right', 'wrong', 'of which unanswered', 'undecided', 'failed', 'of decided', 'well formed'],
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
      'cost of a right answer',
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
      'both right',
      'only the first',
      'only the second',
      'neither',
      'left out',
      'McNemar',
      'saved per right answer',
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
