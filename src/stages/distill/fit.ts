import { UsageError } from '../../base/errors/index.ts'
import { type Fit, fitGrammar } from '../../language/grammar/fit/index.ts'
import {
  builtinGrammars,
  defineGrammar,
  extendGrammar,
  type Grammar,
  knownGrammars,
  type ToolAgent,
  validate,
} from '../../language/grammar/index.ts'
import type { Trajectory, TrajectoryEvent } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import { languageOf } from '../../world/index.ts'
import { linksOf } from './causal-order.ts'
import { type DistillOptions, draftOf } from './distill-trajectory.ts'
import { DROP } from './rules.ts'
import type { DistillConfig } from './run.ts'
import { distillSettings } from './settings.ts'

type Options = Omit<DistillOptions, 'grammar'>

/** Fits a grammar to the trajectories of a run. Held-out tasks count too: they are in the same order. */
export async function fitRun(
  config: Pick<DistillConfig, 'distill' | 'language'>,
  run: Run,
  minShare: number,
): Promise<Fit> {
  const language = languageOf(config.language, run)
  const { grammarOf: _, ...options } = await distillSettings(config, language)
  const { own, byName } = await knownGrammars(language)
  const fit = fitTrajectories([...run.scan('trajectory')], [own, ...byName.values()], options, minShare)
  if (fit !== undefined) return fit
  throw new UsageError(`no trajectory of run ${run.id} fits`, {
    fix:
      minShare > 0
        ? 'Lower --min-share.'
        : 'Each needs an answer; see what is wrong with them with `coa distill RUN --dry-run`.',
  })
}

/**
 * The smallest grammar for trajectories as they are distilled: in any order at first, and once more with the fitted
 * grammar, so that one only counts as fitting if its sequence really does.
 */
export function fitTrajectories(
  trajectories: readonly Trajectory[],
  known: readonly Grammar[],
  options: Options,
  minShare = 0,
): Fit | undefined {
  const tools = toolsIn(trajectories, known, options.map ?? new Map())
  const open = extendGrammar(builtinGrammars.get('open')!, tools)
  const orders = trajectories.map((trajectory) => ({
    id: trajectory.id,
    agents: agentsOf(trajectory, { ...options, grammar: open }),
  }))
  const fit = fitGrammar(orders, open, {
    name: 'fitted',
    description: 'Questions answered in the order that recorded runs have.',
    minShare,
  })
  if (fit === undefined) return undefined
  const grammar = defineGrammar(fit.definition)
  const fits = new Set(fit.fits)
  const changed = trajectories.filter((trajectory) => {
    if (!fits.has(trajectory.id)) return false
    return !validate(grammar, agentsOf(trajectory, { ...options, grammar })).ok
  })
  for (const { id } of changed) fits.delete(id)
  const reason = 'it distills in another order under the fitted grammar'
  return { ...fit, fits: [...fits], lost: [...fit.lost, ...changed.map(({ id }) => ({ id, reason }))] }
}

const agentsOf = (trajectory: Trajectory, options: DistillOptions): string[] =>
  draftOf(trajectory, linksOf(trajectory), options).steps.map(({ agent }) => agent)

const NAME = /^[a-z][a-z0-9_]{0,63}$/

/** The tools that were called, as the run or a known grammar defines them, or else judging by what they were given. */
function toolsIn(
  trajectories: readonly Trajectory[],
  known: readonly Grammar[],
  map: ReadonlyMap<string, string>,
): ToolAgent[] {
  const inputs = new Map<string, Input[]>()
  for (const { events } of trajectories)
    for (const event of events) {
      if (event.type !== 'tool-called') continue
      const name = map.get(event.tool) ?? event.tool
      if (name === DROP || !NAME.test(name)) continue
      const given = inputs.get(name)
      if (given === undefined) inputs.set(name, [event.input])
      else given.push(event.input)
    }
  return [...inputs].map(([name, given]) => {
    const tool = known.map(({ agents }) => agents.get(name)).find((agent) => agent?.kind === 'tool')
    if (tool !== undefined) return { name, description: tool.description, payload: tool.payload }
    return { name, description: `Call ${name}.`, payload: payloadOf(given) }
  })
}

type Input = Extract<TrajectoryEvent, { type: 'tool-called' }>['input']

/** Fields as JSON if every call has them, several texts as a list, and everything else as text. */
function payloadOf(inputs: readonly Input[]): NonNullable<ToolAgent['payload']> {
  const syntaxes = new Set(inputs.map(syntaxOf))
  if (syntaxes.has('code') && syntaxes.size === 1)
    return { syntax: 'code', languages: ['py', 'python'], stdin: true }
  if (syntaxes.has('json') && syntaxes.size === 1) return { syntax: 'json' }
  return syntaxes.has('list') && !syntaxes.has('json') ? { syntax: 'list' } : { syntax: 'text' }
}

function syntaxOf(input: Input): 'text' | 'list' | 'code' | 'json' {
  if (Array.isArray(input)) return input.every((item) => typeof item === 'string') ? 'list' : 'text'
  if (typeof input !== 'object' || input === null) return 'text'
  const { syntax } = input
  return syntax === 'text' || syntax === 'list' || syntax === 'code' ? syntax : 'json'
}
