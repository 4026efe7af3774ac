import { z } from 'zod'
import { problemOf, type SinkName, sinkNames } from './sink.ts'

/** Where metrics and sample chains are sent while a run trains or is evaluated, besides the run folder. */
export const MetricsSection = z
  .strictObject({
    /**
     * By name: a folder (tensorboard), the URL of a server (otlp, mlflow), a project (wandb, trackio). Never taken from a run
     * folder of someone else.
     */
    sinks: z
      .partialRecord(z.enum(sinkNames), z.string().min(1))
      .default({})
      .superRefine((sinks, { addIssue }) => {
        for (const [name, target] of Object.entries(sinks)) {
          const problem = problemOf(name as SinkName, target)
          if (problem !== undefined) addIssue(`${name}: ${problem}`)
        }
      }),
    /** Sample chains per RL step and per evaluated solver. 0: none. */
    chains: z.number().int().nonnegative().default(4),
    /** The Python that has `wandb` or `trackio`. */
    python: z.string().min(1).default('python3'),
  })
  .prefault({})
export type MetricsSection = z.infer<typeof MetricsSection>
