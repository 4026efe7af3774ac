import { z } from 'zod'
import { range } from '../../settings/index.ts'

/**
 * Reinforcement learning on the student's own rollouts. Unset options default to those of the algorithm; see
 * docs/79-rl.md.
 */
export const RlSection = z
  .strictObject({
    /** The initial model. Unset: the run's SFT checkpoint, or student.model. */
    model: z.string().meta({ fromRun: 'names' }).default(''),
    /** Tasks per suite: those that follow the ones the team was given. */
    task_count: z.number().int().positive().default(200),
    /** Leave out questions that the run has sequences for. */
    disjoint: z.boolean().default(false),
    /**
     * Leave out tasks that the model solves without tools in more than this share of attempts; 0.3 in the paper. 1:
     * none.
     */
    max_without_tools: z.number().min(0).max(1).default(1),
    /** Train on tasks whose initial pass rate is in this range, such as [0.1, 0.9]. Empty: all. */
    pass_rate: range().default([]),
    /** Rollouts per task to measure the pass rate. */
    pass_rate_rollouts: z.number().int().positive().default(8),
    algorithm: z.enum(['dapo', 'grpo', 'gspo', 'cispo', 'reinforce++', 'ppo']).default('dapo'),
    steps: z.number().int().positive().default(40),
    /** Training ends after the step in which this many minutes have passed. 0: no limit. */
    max_minutes: z.number().nonnegative().default(0),
    /** Prompts per step, and rollouts per prompt. */
    groups: z.number().int().positive().default(8),
    group_size: z.number().int().positive().default(8),
    /** Weight updates per step; each uses its share of the groups. */
    mini_batches: z.number().int().positive().optional(),
    /** 1e-6 in the paper, for 7B parameters; small models need more. */
    learning_rate: z.number().positive().default(1e-5),
    /** Warmup steps; the optimizer starts without moments. */
    warmup_steps: z.number().int().nonnegative().default(10),
    /** Final learning rate as a share of the peak, by linear decay. 1: constant. */
    final_share: z.number().min(0).max(1).default(1),
    weight_decay: z.number().nonnegative().default(0.1),
    beta2: z.number().positive().max(0.9999999).default(0.999),
    /** Gradients with a larger norm are clipped to it. 0: no clipping. */
    max_norm: z.number().nonnegative().default(1),
    /**
     * clip: min(r·A, clip(r)·A) for each token. gspo: the same with one ratio for the whole rollout. cispo: A·log p,
     * weighted by the clipped ratio, so that no token loses its gradient.
     */
    loss: z.enum(['clip', 'gspo', 'cispo']).optional(),
    /** Clip range of the probability ratio below and above 1. */
    clip_low: z.number().nonnegative().max(1).optional(),
    clip_high: z.number().nonnegative().optional(),
    /** Dual-clip bound for tokens with a negative advantage, as a multiple of it. 0: off. */
    dual_clip: z.number().nonnegative().optional(),
    /**
     * Cap of the importance weight that corrects for the difference between sampled and trained distributions. 0: no
     * correction. Unset: 2 with rollout.constrained or rl.overlap, otherwise 0.
     */
    importance_cap: z.number().nonnegative().optional(),
    /** Source of the old log-probabilities: an extra forward pass of the learner, or the sampler's report. */
    old_logprobs: z.enum(['sampler', 'learner']).default('learner'),
    /** Weight of the KL divergence from the reference. 0: off. */
    kl: z.number().nonnegative().default(0),
    /**
     * The model that rl.kl pulls toward. Unset: the initial one. With a larger one that has learned the same grammar and has the same
     * tokens, and k1, this is on-policy distillation.
     */
    reference: z.string().meta({ fromRun: 'names' }).default(''),
    /** k3 keeps the model from leaving out what the reference does; k1 makes it do what the reference finds likely. */
    kl_estimate: z.enum(['k1', 'k3']).default('k3'),
    /**
     * Weight of the SFT loss on some of the run's selected sequences, against forgetting. It falls linearly, to 0 after the
     * last step. 0: off.
     */
    replay: z.number().nonnegative().default(0),
    /** Sequences replayed per step. */
    replay_sequences: z.number().int().positive().default(32),
    /** The baseline of the advantage. */
    advantage: z.enum(['group', 'group-mean', 'leave-one-out', 'batch', 'batch-group']).optional(),
    /** Average the loss over tokens, or over rollouts. */
    normalise: z.enum(['token', 'sequence']).optional(),
    /** Replace groups whose rollouts all have the same reward. */
    dynamic_sampling: z.boolean().optional(),
    /** What has to vary within a group: correctness alone, or the full reward. */
    variance_of: z.enum(['reward', 'correct']).default('correct'),
    /** A step samples at most this many times rl.groups prompts; if that is not enough, training stops. */
    max_gen_batches: z.number().int().positive().default(10),
    /** Train on the available groups if a step cannot be filled. */
    partial_steps: z.boolean().default(false),
    /** Tokens before rollout.max_tokens in which the length penalty grows. 0: no penalty. */
    overlong_buffer: z.number().int().nonnegative().optional(),
    /** Maximum length penalty. */
    overlong_factor: z.number().nonnegative().default(1),
    /**
     * Exclude rollouts that end with a void turn, neither a tool call nor an answer, from their group, as SimpleTIR does.
     * Otherwise they count as wrong.
     */
    void_filter: z.boolean().default(false),
    /** Exclude rollouts cut off by a length limit from their group: not trained on, not in its baseline. */
    overlong_filter: z.boolean().default(false),
    /**
     * verdict: whether the answer is correct. relative-judge: the score, from 0 to 1, that the [judge] model gives a rollout
     * when it compares all rollouts of the task with each other, for tasks without a gold answer.
     */
    reward: z.enum(['verdict', 'relative-judge']).default('verdict'),
    /** Partial credit, if the checker supports it. */
    partial: z.boolean().default(false),
    /** Reward for following the grammar, and penalty for not following it. */
    format_bonus: z.number().nonnegative().default(0),
    format_penalty: z.number().nonnegative().default(0),
    /** Reward for at least one successful tool call. */
    tool_bonus: z.number().nonnegative().default(0),
    /** Prefer tasks with a pass rate near one half. */
    curriculum: z.boolean().default(false),
    /** Sample as many tasks of every suite, however many it has. */
    balance: z.boolean().default(false),
    /**
     * Asynchronous training: rollouts continue while the weights change, and tokens are trained on at most this many
     * steps after their rollout began. 0: every rollout is sampled with the current weights.
     */
    overlap: z.number().int().min(0).max(8).default(0),
    /** Groups per step whose rollouts are stored with tokens; others keep only text and metrics. 0: all. */
    keep_rollouts: z.number().int().nonnegative().default(0),
    /** Steps between evaluations on tasks that are not trained on. 0: none. */
    eval_every: z.number().int().nonnegative().default(10),
    /** Rollouts per task of an evaluation: one, greedy, or the mean of several at rollout.temperature. */
    eval_samples: z.number().int().positive().default(1),
    /** Steps between checkpoints to resume from. */
    save_every: z.number().int().positive().default(5),
    /** Maximum seconds between checkpoints. */
    save_seconds: z.number().positive().default(15),
    /**
     * Which weights to keep: the last, or those with the highest accuracy in evaluation, of equal ones the earliest. Unset:
     * the best if anything is evaluated (tasks.dev_count and rl.eval_every above 0), otherwise the last.
     */
    keep: z.enum(['last', 'best']).optional(),
  })
  .prefault({})
export type RlSection = z.infer<typeof RlSection>
