import { z } from 'zod'
import type { JobRequest, SettingValues } from '../api.ts'
import { Problem } from '../problem.ts'

const name = z.string().min(1).max(200)
const Values = z.record(
  z.string().regex(/^[a-z]+\.[a-z0-9_-]+$/),
  z.union([z.string().max(10_000), z.number(), z.boolean(), z.array(z.union([z.string(), z.number()]))]),
)

/** What can be started, and nothing else. */
const Request = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('quickstart'),
    fast: z.boolean().optional(),
    settings: Values.optional(),
  }),
  z.strictObject({
    kind: z.literal('stage'),
    stage: z.enum(['teach', 'distill', 'filter', 'sft', 'rl', 'eval']),
    run: name.optional(),
    settings: Values.optional(),
  }),
  z.strictObject({ kind: z.literal('resume'), run: name }),
  z.strictObject({
    kind: z.literal('ask'),
    question: z.string().trim().min(1).max(100_000),
    run: name.optional(),
    checkpoint: name.optional(),
    grammar: z
      .string()
      .regex(/^[\w-]{1,100}$/)
      .optional(),
    world: z.number().int().nonnegative().optional(),
    seed: z.number().int().nonnegative().optional(),
  }),
])

export function readRequest(body: unknown): JobRequest {
  const { data, error } = Request.safeParse(body)
  if (data !== undefined) return data as JobRequest
  const issue = error.issues[0]!
  throw new Problem(400, `${issue.path.join('.') || 'the request'}: ${issue.message}`)
}

export interface JobPlan {
  /** The words after `coa`. */
  words: string[]
  title: string
  run?: string
  stage?: string
}

export interface PlanContext {
  /** The folder of a run; throws if there is none. */
  dirOf: (run: string) => string
  /** The newest checkpoint of a run that can be asked; with a name, that one. */
  modelOf: (run: string, checkpoint: string | undefined) => string
  /** The grammar that a model was trained on, if it is known. */
  grammarOf: (model: string) => string | undefined
}

/** The command that does what is asked for: a list of words, which no shell reads. */
export function planOf(request: JobRequest, { dirOf, modelOf, grammarOf }: PlanContext): JobPlan {
  switch (request.kind) {
    case 'quickstart': {
      const words = ['quickstart', '--fresh', ...(request.fast === true ? ['--fast'] : [])]
      return { words: [...words, ...sets(request.settings)], title: 'quickstart', stage: 'quickstart' }
    }
    case 'resume':
      return {
        words: ['run', 'resume', dirOf(request.run)],
        title: `resume ${request.run}`,
        run: request.run,
      }
    case 'stage': {
      const { stage, run, settings } = request
      if (run === undefined && stage !== 'teach')
        throw new Problem(400, `${stage} needs a run`, { fix: 'Choose the run it works on.' })
      const about = { stage, ...(run === undefined ? {} : { run }) }
      if (stage === 'eval')
        return {
          words: ['compare', '--model', modelOf(run!, undefined), ...sets(settings)],
          title: `evaluate ${run}`,
          stage,
        }
      return {
        words: [stage, ...(run === undefined ? [] : [dirOf(run)]), ...sets(settings)],
        title: run === undefined ? stage : `${stage} of ${run}`,
        ...about,
      }
    }
    case 'ask': {
      const { question, run, checkpoint, seed, world } = request
      const model = run === undefined ? 'nano' : modelOf(run, checkpoint)
      const grammar = request.grammar ?? grammarOf(model)
      return {
        words: [
          'solve',
          '--events',
          '--model',
          model,
          ...(grammar === undefined ? [] : ['--grammar', grammar]),
          ...(world === undefined ? [] : ['--world', String(world)]),
          ...(seed === undefined ? [] : ['--seed', String(seed)]),
          '--',
          question,
        ],
        title: `ask ${run === undefined ? model : `${checkpoint ?? 'the model'} of ${run}`}`,
        ...(run === undefined ? {} : { run }),
      }
    }
  }
}

function sets(values: SettingValues = {}): string[] {
  return Object.entries(values).flatMap(([key, value]) => [
    '--set',
    `${key}=${Array.isArray(value) ? JSON.stringify(value) : value}`,
  ])
}
