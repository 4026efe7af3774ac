import { z } from 'zod'
import { Price } from '../../schema/index.ts'
import { table, words } from '../../settings/index.ts'
import { modelSection } from '../../world/settings.ts'

export const Prices = table(Price)

const SolverKind = z.enum(['team', 'plain', 'react', 'text', 'base', 'sft', 'rl'])
export type SolverKind = z.infer<typeof SolverKind>

/** Evaluation. The model configured here answers as a plain model or a ReAct agent; without one, [teacher] does. */
export const EvalSection = z
  .strictObject({
    ...modelSection,
    /**
     * Who solves the quickstart's held-out tasks, in the order of the table; the others are compared with the first. plain:
     * the base model, asked once. react: the same with tools. text: it continues the question, and its code is run. base,
     * sft and rl: models that work as a chain of agents.
     */
    solvers: z.array(SolverKind).min(1).default(['team', 'text', 'base', 'sft', 'rl']),
    /** Attempts per solver and task. */
    attempts: z.number().int().positive().default(1),
    /** Concurrent attempts. */
    concurrency: z.number().int().positive().default(32),
    /** Sampling temperature of models. Unset: 0 for one attempt, rollout.temperature for several. */
    temperature: z.number().nonnegative().optional(),
    /** How one of several answers is chosen: majority vote, the checker (an upper bound), or the [judge] model. */
    picker: z.enum(['majority', 'oracle', 'judge']).default('majority'),
    /** Built-in tools that solvers get although the grammar of a task has none by that name. */
    add_tools: words().default([]),
    /** Tools that are taken away from solvers: they are not in the prompt and cannot be called. */
    remove_tools: words().default([]),
    /** Maximum tool calls of a ReAct agent. */
    max_turns: z.number().int().positive().default(25),
    /** Maximum tokens per reply of a plain model or a ReAct agent. */
    max_tokens: z.number().int().positive().default(2048),
    /** Bootstrap resamples per confidence interval. */
    resamples: z.number().int().positive().default(2000),
    /**
     * Price per million prompt and completion tokens, by solver name or kind: { team = { prompt = 3, completion = 15
     * } }.
     */
    prices: Prices.default({}),
  })
  .prefault({})
export type EvalSection = z.infer<typeof EvalSection>
