import { ConfigError } from '../../base/errors/index.ts'
import type { ProjectSection } from '../../settings/index.ts'
import type { SftSection } from './settings.ts'

/** From this share of the run on, sequences may have so many tokens. */
export interface ContextFrom {
  from: number
  context: number
}

export interface SftSettings extends Omit<SftSection, 'context'> {
  seed: number
  /** At least one, the first from 0 on. */
  contexts: ContextFrom[]
}

export function sftSettings(
  { sft, project }: { sft: SftSection; project: ProjectSection },
  contextLength: number,
): SftSettings {
  const { context, ...rest } = sft
  const contexts = Object.entries(context).map(([from, tokens]) => ({ from: Number(from), context: tokens }))
  if (contexts.length === 0) contexts.push({ from: 0, context: contextLength })
  const wrong = contexts.find(
    ({ from }, index) => !(index === 0 ? from === 0 : from > contexts[index - 1]!.from && from < 1),
  )
  if (wrong !== undefined) {
    throw new ConfigError(`sft.context: the shares do not begin at 0 and rise from there, below 1`, {
      fix: 'Write it as { "0" = 1024, "0.5" = 2048 }.',
    })
  }
  const long = contexts.find((each) => each.context > contextLength)
  if (long !== undefined) {
    throw new ConfigError(`sft.context: the model sees ${contextLength} tokens, not ${long.context}`, {
      fix: `Give at most ${contextLength}, or take a model with a longer context.`,
    })
  }
  return { ...rest, seed: project.seed, contexts }
}
