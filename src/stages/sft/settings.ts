import { z } from 'zod'
import { ConfigError } from '../../base/errors/index.ts'
import { type ProjectSection, table } from '../../settings/index.ts'

/** Supervised fine-tuning on the kept sequences. */
export const SftSection = z
  .strictObject({
    /** Passes over the data; fractions are allowed. */
    epochs: z.number().positive().default(3),
    /** Optimizer steps instead of epochs. 0: use epochs. */
    max_steps: z.number().int().nonnegative().default(0),
    /** Number of sequences to train on, sampled by seed. 0: all. */
    max_chains: z.number().int().nonnegative().default(0),
    /** Approximate tokens per optimizer step, including prompts and observations. */
    batch_tokens: z.number().int().positive().default(8192),
    learning_rate: z.number().positive().default(1e-4),
    /** Share of the steps with linear learning rate warmup. */
    warmup: z.number().min(0).max(1).default(0.03),
    /** Final learning rate as a share of the peak, reached by cosine decay. */
    final_share: z.number().min(0).max(1).default(0.1),
    weight_decay: z.number().nonnegative().default(0.1),
    beta2: z.number().min(0).lt(1).default(0.95),
    /** Gradients with a larger norm are clipped to it. 0: no clipping. */
    max_norm: z.number().nonnegative().default(1),
    /** Mask tool output in the loss. false exists to measure the effect. */
    mask_observations: z.boolean().default(true),
    /**
     * Maximum sequence length from a share of the training on, such as { "0" = 1024, "0.5" = 2048 }. Empty: the
     * model's context.
     */
    context: table(z.number().int().min(2)).default({}),
    /** Share of ReAct-style sequences. Above 0, distill makes them; 1 trains on nothing else, see rollout.react. */
    react_share: z.number().min(0).max(1).default(0),
    /** Share of tasks held out for evaluation; at least eight, or none if there are fewer than 32. */
    eval_share: z.number().min(0).lt(1).default(0.05),
    /** Steps between evaluations. */
    eval_every: z.number().int().positive().default(50),
    /** Steps between checkpoints to resume from. */
    save_every: z.number().int().positive().default(100),
    /** Maximum seconds between checkpoints. */
    save_seconds: z.number().positive().default(15),
    /** How the best checkpoint is selected: held-out loss, or accuracy of rollouts. */
    keep: z.enum(['loss', 'accuracy']).default('loss'),
  })
  .prefault({})
export type SftSection = z.infer<typeof SftSection>

/** From this share of the training on, sequences may have up to `context` tokens. */
export interface ContextFrom {
  from: number
  context: number
}

export interface SftSettings extends Omit<SftSection, 'context'> {
  seed: number
  /** At least one; the first starts at 0. */
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
    throw new ConfigError(`sft.context: the shares must start at 0, increase, and stay below 1`, {
      fix: 'Write it as { "0" = 1024, "0.5" = 2048 }.',
    })
  }
  const long = contexts.find((each) => each.context > contextLength)
  if (long !== undefined) {
    throw new ConfigError(
      `sft.context: ${long.context} tokens exceed the model's context of ${contextLength}`,
      {
        fix: `Use at most ${contextLength}, or a model with a longer context.`,
      },
    )
  }
  return { ...rest, seed: project.seed, contexts }
}
