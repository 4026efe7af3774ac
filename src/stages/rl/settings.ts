import { z } from 'zod'
import { range } from '../../settings/index.ts'

/** The student learns from its own rollouts. What is left out below is as the algorithm has it; docs/79-rl.md lists that. */
export const RlSection = z
  .strictObject({
    /** The model to begin with. Left out: what SFT made in the run, or else student.model. */
    model: z.string().meta({ fromRun: 'names' }).default(''),
    /** Tasks of each suite to practise on: those that follow the ones the team was given. */
    task_count: z.number().int().positive().default(200),
    /** Leave out questions that the run has sequences of. */
    disjoint: z.boolean().default(false),
    /** Leave out tasks that the model solves in more than this share of its tries while all tools refuse; 0.3 in the paper. 1: none. */
    max_without_tools: z.number().min(0).max(1).default(1),
    /** Practise on tasks that the model solves in such a share of its tries at first, such as [0.1, 0.9]. Empty: on all. */
    pass_rate: range().default([]),
    /** Tries at each task to measure that. */
    pass_rate_rollouts: z.number().int().positive().default(8),
    algorithm: z.enum(['dapo', 'grpo', 'reinforce++', 'ppo']).default('dapo'),
    steps: z.number().int().positive().default(40),
    /** Prompts a step learns from, and rollouts of each. */
    groups: z.number().int().positive().default(8),
    group_size: z.number().int().positive().default(8),
    /** Updates of the weights a step; each learns from its share of the groups. */
    mini_batches: z.number().int().positive().optional(),
    /** 1e-6 in the paper, for 7 billion weights; small models need more. */
    learning_rate: z.number().positive().default(1e-5),
    /** Steps in which the learning rate rises to this; the optimizer starts without moments. */
    warmup_steps: z.number().int().nonnegative().default(10),
    /** Share of it that is left at the last step; it falls in a straight line. 1: it stays. */
    final_share: z.number().min(0).max(1).default(1),
    weight_decay: z.number().nonnegative().default(0.1),
    beta2: z.number().positive().max(0.9999999).default(0.999),
    /** Longer gradients are scaled down to this length. 0: they are not. */
    max_norm: z.number().nonnegative().default(1),
    /** How far below and above 1 the ratio to the policy that sampled may go. */
    clip_low: z.number().nonnegative().max(1).optional(),
    clip_high: z.number().nonnegative().optional(),
    /** Bounds what a token with a negative advantage can cost, as a multiple of it. 0: off. */
    dual_clip: z.number().nonnegative().optional(),
    /**
     * Largest weight of a token for what was sampled from not being what is trained. 0: no such weight. Left out: 2 with
     * rollout.constrained or rl.overlap, else 0.
     */
    importance_cap: z.number().nonnegative().optional(),
    /** Where the ratio is measured from: one more pass of the learner over all rollouts, or what the sampler reported. */
    old_logprobs: z.enum(['sampler', 'learner']).default('learner'),
    /** Weight of the distance to the model that training began with. 0: off. */
    kl: z.number().nonnegative().default(0),
    /** What a reward is compared with. */
    advantage: z.enum(['group', 'group-mean', 'leave-one-out', 'batch', 'batch-group']).optional(),
    /** Every token of an update counts the same, or every rollout. */
    normalise: z.enum(['token', 'sequence']).optional(),
    /** Groups whose rollouts are all worth the same are replaced by others. */
    dynamic_sampling: z.boolean().optional(),
    /** What has to differ within a group: correctness alone, or the reward with all that was added to it. */
    variance_of: z.enum(['reward', 'correct']).default('correct'),
    /** A step samples at most this many times rl.groups prompts; if it is not full by then, training stops. */
    max_gen_batches: z.number().int().positive().default(10),
    /** Train on the groups there are when a step cannot be filled. */
    partial_steps: z.boolean().default(false),
    /** Tokens before rollout.max_tokens in which the reward falls. 0: it does not. */
    overlong_buffer: z.number().int().nonnegative().optional(),
    /** How far it falls. */
    overlong_factor: z.number().nonnegative().default(1),
    /** Rollouts cut off by a length limit are excluded from their group: not trained on, not in its baseline. */
    overlong_filter: z.boolean().default(false),
    /** Credit for a part of the answer, where the check knows one. */
    partial: z.boolean().default(false),
    /** What keeping to the grammar adds to the reward, and what not keeping to it takes away. */
    format_bonus: z.number().nonnegative().default(0),
    format_penalty: z.number().nonnegative().default(0),
    /** Added once where a tool was called and gave a result. */
    tool_bonus: z.number().nonnegative().default(0),
    /** Prefer tasks that are solved about half of the time. */
    curriculum: z.boolean().default(false),
    /** 1: the rollouts of the next step are made while this one trains. */
    overlap: z.number().int().min(0).max(1).default(0),
    /** Groups a step whose rollouts are stored with their tokens; of the others only text and figures. 0: all. */
    keep_rollouts: z.number().int().nonnegative().default(0),
    /** Steps between measurements on tasks that are not trained on. 0: none. */
    eval_every: z.number().int().nonnegative().default(10),
    /** Steps between checkpoints, which are what a killed run resumes from. */
    save_every: z.number().int().positive().default(5),
    /** Seconds after which there is one in any case. */
    save_seconds: z.number().positive().default(15),
    /** Which weights the stage ends with: the last, or those that measured best. */
    keep: z.enum(['last', 'best']).default('last'),
  })
  .prefault({})
export type RlSection = z.infer<typeof RlSection>
