import { setImmediate } from 'node:timers/promises'
import { sha256 } from '../../base/digests/index.ts'
import { ConfigError } from '../../base/errors/index.ts'
import type { Observe } from '../../base/progress/index.ts'
import type { Selected } from '../../store/index.ts'
import type { SftSettings } from './config.ts'
import { drawn } from './drawn.ts'
import { type Example, type ExampleOptions, exampleOf } from './examples.ts'
import { heldOutTasks } from './hold-out.ts'
import { LeftOut } from './left-out.ts'

export interface Gathered {
  chains: Example[]
  react: Example[]
  /** Kept out of training, to measure by: no task of these is trained on. */
  held: Example[]
  leftOut: LeftOut
  /** How many sequences were given. */
  given: number
}

export interface Sources {
  data: () => Iterable<Selected>
  react?: (() => Iterable<Selected>) | undefined
  signal: AbortSignal
  observe: Observe
}

/** Sequences after which others get their turn, so that a long reading can be stopped. */
const BREATH = 64

/** Reads all sequences into tokens. One that cannot be used is counted and does not stop the others. */
export async function gather(
  { data, react, signal, observe }: Sources,
  settings: SftSettings,
  options: ExampleOptions,
): Promise<Gathered> {
  const leftOut = new LeftOut()
  const longest = Math.max(...settings.contexts.map(({ context }) => context))
  let given = 0
  const read = async (source: Iterable<Selected>): Promise<Example[]> => {
    const examples: Example[] = []
    for (const selected of source) {
      if (++given % BREATH === 0) {
        observe({ stage: 'sft', done: given, unit: 'sequences read' })
        await setImmediate()
        signal.throwIfAborted()
      }
      const example = attempt(selected, options)
      if ('reason' in example) leftOut.add(example.reason, selected.sequence.id)
      else if (example.tokens.length > longest) leftOut.add(`longer than ${longest} tokens`, example.id)
      else examples.push(example)
    }
    return examples
  }
  const chains = await read(data())
  const chainsGiven = given
  if (chainsGiven === 0) {
    throw new ConfigError('there are no sequences to train on', {
      fix: 'Distill and filter runs of a team first: `coa distill`, then `coa filter`.',
    })
  }
  if (chains.length === 0) {
    throw new ConfigError(`none of the ${chainsGiven} sequences can be trained on: ${reasons(leftOut)}`, {
      fix: `Filter with filter.max_tokens = ${longest} and the tokenizer of the model, or take a model with a longer context.`,
    })
  }
  const mixed = settings.react_share > 0 ? await read(react?.() ?? []) : []
  if (settings.react_share > 0 && mixed.length === 0) {
    throw new ConfigError(
      `sft.react_share is ${settings.react_share}, and there are no ReAct-style sequences`,
      {
        fix: 'Make them with `coa distill RUN --react`, or set sft.react_share to 0.',
      },
    )
  }
  const tasks = heldOutTasks(
    chains.map(({ taskId }) => taskId),
    settings.eval_share,
    settings.seed,
  )
  const trained = ({ taskId }: Example): boolean => !tasks.has(taskId)
  const chosen = some(chains.filter(trained), settings.max_chains, settings.seed)
  const practised = new Set(chosen.map(({ taskId }) => taskId))
  return {
    chains: chosen,
    // Of the same tasks: sft.max_chains limits what is seen of the team, in whichever style.
    react: mixed.filter(({ taskId }) => practised.has(taskId)),
    held: chains.filter((example) => !trained(example)),
    leftOut,
    given,
  }
}

/** So many of them, in the order they had; the same ones whatever else is given. 0: all. */
function some(examples: Example[], count: number, seed: number): Example[] {
  if (count === 0) return examples
  const order = drawn(
    examples.map(({ id }) => id),
    seed,
    'drawn',
  )
  const chosen = new Set(order.slice(0, count).map(({ id }) => id))
  return examples.filter(({ id }) => chosen.has(id))
}

function attempt(selected: Selected, options: ExampleOptions): Example | { reason: string } {
  try {
    return exampleOf(selected, options)
  } catch (cause) {
    return { reason: (cause as Error).message }
  }
}

function reasons(leftOut: LeftOut): string {
  const counts = leftOut.counts().map(([reason, count]) => `${count} × ${reason}`)
  return counts.slice(0, 3).join('; ')
}

/** Of everything the curve hangs on: examples, settings and the model it begins with. */
export function planDigest(
  { chains, react, held }: Gathered,
  settings: SftSettings,
  model: string | undefined,
): string {
  // These decide when something is looked at or saved, not what is learned.
  const { eval_every: _, save_every: __, save_seconds: ___, keep: ____, ...deciding } = settings
  const lines = [JSON.stringify(deciding), model ?? '']
  for (const [name, examples] of Object.entries({ chains, react, held })) {
    lines.push(name)
    for (const { id, tokens, learned, times } of examples)
      lines.push(`${JSON.stringify(id)} ${times} ${sha256(tokens)} ${sha256(learned)}`)
  }
  return sha256(lines.join('\n'))
}
