import { z } from 'zod'
import { nameOrPath } from '../../settings/index.ts'
import type { Dials } from '../../tasks/index.ts'

const chance = z.number().min(0).max(1).optional()
const DialsTable = z
  .strictObject({
    slip: chance,
    notice: chance,
    detour: chance,
    repeat: chance,
    doubt: chance,
    recheck: chance,
    giveUp: chance,
  } satisfies Record<keyof Dials, z.ZodType>)
  .meta({ fromRun: 'always' })

export const TeachSection = z
  .strictObject({
    /** How the agents of the team work together: manager, pipeline, debate, refine, or a .ts file of your own. */
    topology: nameOrPath().default('manager'),
    /**
     * Who thinks: scripts that know how generated tasks were made, or the model of [teacher]. student: no team, the student
     * solves the tasks alone.
     */
    mind: z.enum(['careful', 'erring', 'model', 'student']).default('careful'),
    /** Other chances for scripts than those of the mind, such as { slip = 0.2, doubt = 0 }. */
    dials: DialsTable.default({}),
    /** Runs of the team on each task. */
    runs: z.number().int().positive().default(1),
    /** Stop at a task's first correct run; `runs` is then the maximum. The agents never see this verdict. */
    until_correct: z.boolean().default(false),
    /**
     * Show the first agent of a team of models the task's annotated solution, if it has one; with until_correct, only after an
     * attempt that was not correct. Never in evaluations.
     */
    hints: z.boolean().default(false),
    /**
     * How often per run the checker may reject a suggested answer of a team of models, which then works on. Agents learn that it
     * is not correct, but not the correct answer. Never in evaluations.
     */
    verdicts: z.number().int().nonnegative().default(0),
    /** How replies of models are read. lenient: also other formats, if it is clear what is meant. */
    replies: z.enum(['lenient', 'strict']).default('lenient'),
    /** Guide models, so that no reply is malformed: tags are forced, texts are sampled. Default: if [teacher] is a folder. */
    constrained: z.boolean().optional(),
    /** Whether programs of guided models keep lines that are only comments. Without them, chains are shorter. */
    comments: z.boolean().default(true),
    /** Give models more help, and, unless they are guided, an example of each kind of reply. */
    examples: z.boolean().default(true),
    /** How often an unusable reply is requested again. */
    retries: z.number().int().nonnegative().default(1),
    /**
     * How often per run an answer that the grammar has no check for is compared with that of an agent that solves the question
     * alone; if they differ, a team of models works on. Not for programs: they are run.
     */
    recheck: z.number().int().nonnegative().default(0),
    /** Calls that a worker played by a model may make for one task, if its tool returns an error or it asks for more. */
    worker_steps: z.number().int().positive().default(2),
    /** No run begins after this many minutes. 0: no limit. */
    max_minutes: z.number().nonnegative().default(0),
    /** Teams at work at the same time. */
    concurrency: z.number().int().positive().default(4),
    /** Tool calls after which a critic looks back, where the grammar leaves it open. */
    reflect_every: z.number().int().positive().default(3),
    /** Of one run: tool calls, tokens in and out, seconds, money. */
    max_steps: z.number().int().positive().default(30),
    max_tokens: z.number().int().positive().default(2_000_000),
    max_seconds: z.number().positive().default(600),
    max_spend: z.number().nonnegative().default(10),
    /** For a million tokens, to reckon what the team costs. */
    prompt_price: z.number().nonnegative().default(0),
    completion_price: z.number().nonnegative().default(0),
  })
  .prefault({})
export type TeachSection = z.infer<typeof TeachSection>
