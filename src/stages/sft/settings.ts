import { z } from 'zod'
import { table } from '../../settings/index.ts'

/** The student learns from the sequences that were kept. */
export const SftSection = z
  .strictObject({
    /** How often every sequence is gone through; parts of a pass too. */
    epochs: z.number().positive().default(3),
    /** Optimiser steps instead of epochs. 0: by epochs. */
    max_steps: z.number().int().nonnegative().default(0),
    /** Chains that are learned from, drawn by the seed from those that were kept. 0: all. */
    max_chains: z.number().int().nonnegative().default(0),
    /** Tokens of one optimiser step, about, prompts and observations included. */
    batch_tokens: z.number().int().positive().default(8192),
    learning_rate: z.number().positive().default(1e-4),
    /** Share of the steps in which the rate rises. */
    warmup: z.number().min(0).max(1).default(0.03),
    /** What is left of the rate at the end, to which it falls along a cosine. */
    final_share: z.number().min(0).max(1).default(0.1),
    weight_decay: z.number().nonnegative().default(0.1),
    beta2: z.number().min(0).lt(1).default(0.95),
    /** Longer gradients are scaled down to this. 0: none are. */
    max_norm: z.number().nonnegative().default(1),
    /** Learn nothing of what tools returned. false is there to see what that is worth. */
    mask_observations: z.boolean().default(true),
    /** Longest sequence from a share of the run on, such as { "0" = 1024, "0.5" = 2048 }. None: what the model can see. */
    context: table(z.number().int().min(2)).default({}),
    /** Share of sequences in which a single agent works ReAct-style. Above 0, distilling makes them. */
    react_share: z.number().min(0).lt(1).default(0),
    /** Share of tasks whose sequences are kept out of training, to measure by; at least eight, or none of fewer than 32. */
    eval_share: z.number().min(0).lt(1).default(0.05),
    /** Steps between two measurements. */
    eval_every: z.number().int().positive().default(50),
    /** Steps between two checkpoints to resume from. */
    save_every: z.number().int().positive().default(100),
    /** Seconds after which there is one in any case. */
    save_seconds: z.number().positive().default(15),
    /** What makes a checkpoint the best: loss on what was kept out, or accuracy of rollouts. */
    keep: z.enum(['loss', 'accuracy']).default('loss'),
  })
  .prefault({})
export type SftSection = z.infer<typeof SftSection>
