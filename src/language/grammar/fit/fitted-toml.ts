import { percent } from '../../../base/text/index.ts'
import type { GrammarInput } from '../definition.ts'
import type { Fit, Transition } from './fit-grammar.ts'

/** The fitted grammar as a file that its reader can judge and edit: each transition says how often it occurred. */
export function fittedToml(fit: Fit, remarks: readonly string[]): string {
  const { definition, transitions, fits, lost, dropped } = fit
  const all = fits.length + lost.length
  const { name, description, start, prelude, agents } = definition
  const lines = [
    ...remarks.map((remark) => `# ${remark}`),
    `# ${fits.length} of ${all} runs fit (${percent(fits.length / all)}).`,
    ...dropped.map(
      ({ from, to, runs }) =>
        `# Too rare: ${from ?? 'start'} → ${to}, in ${runs} ${runs === 1 ? 'run' : 'runs'}.`,
    ),
    '',
    `name = ${text(name)}`,
    `description = ${text(description)}`,
    `start = ${list(start, countsFrom(null, transitions))}`,
    ...(prelude === undefined
      ? []
      : [
          '',
          '# Comes before each of these; the "next" lists ignore it.',
          '[prelude]',
          `agent = ${text(prelude.agent)}`,
          `before = [${prelude.before.map(text).join(', ')}]`,
          `required = ${prelude.required ?? true}`,
        ]),
    ...agents.flatMap((agent) => agentLines(agent, transitions)),
    '',
  ]
  return lines.map((line) => line.replace(/[ \t]+$/, '')).join('\n')
}

function agentLines(agent: GrammarInput['agents'][number], transitions: readonly Transition[]): string[] {
  const { name, tag, kind, description, payload, next = [] } = agent
  return [
    '',
    '[[agents]]',
    `name = ${text(name)}`,
    ...(tag === undefined ? [] : [`tag = ${text(tag)}`]),
    `kind = ${text(kind)}`,
    `description = ${text(description)}`,
    ...(payload === undefined || payload.syntax === 'text' ? [] : [`payload = ${inline(payload)}`]),
    ...(next.length === 0 ? [] : [`next = ${list(next, countsFrom(name, transitions))}`]),
  ]
}

const countsFrom = (from: string | null, transitions: readonly Transition[]): Map<string, Transition> =>
  new Map(transitions.flatMap((move) => (move.from === from ? [[move.to, move]] : [])))

function list(names: readonly string[], counts: ReadonlyMap<string, Transition>): string {
  const lines = names.map((name) => {
    const { times, runs } = counts.get(name)!
    return `  ${text(name)},  # ${times} ${times === 1 ? 'time' : 'times'}, in ${runs} ${runs === 1 ? 'run' : 'runs'}`
  })
  return ['[', ...lines, ']'].join('\n')
}

/** JSON's escapes are TOML's too, apart from the delete character; half a surrogate pair is neither's. */
const text = (value: string): string => JSON.stringify(value.toWellFormed()).replaceAll('\u007f', '\\u007F')

/** A payload on one line. TOML has no null, so a schema with one is left out rather than changed. */
function inline(payload: NonNullable<GrammarInput['agents'][number]['payload']>): string {
  const { syntax } = payload
  return hasNull(payload) ? table({ syntax }) : table(payload)
}

function value(given: unknown): string {
  if (typeof given === 'string') return text(given)
  if (Array.isArray(given)) return `[${given.map(value).join(', ')}]`
  if (typeof given === 'object' && given !== null) return table(given)
  return String(given)
}

const table = (given: object): string =>
  `{ ${Object.entries(given)
    .filter(([, inner]) => inner !== undefined)
    .map(([key, inner]) => `${/^[\w-]+$/.test(key) ? key : text(key)} = ${value(inner)}`)
    .join(', ')} }`

const hasNull = (given: unknown): boolean =>
  given === null || (typeof given === 'object' && Object.values(given).some(hasNull))
