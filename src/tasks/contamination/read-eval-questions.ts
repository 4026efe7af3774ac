import { CoaError, ConfigError } from '../../base/errors/index.ts'
import type { Split } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import { configuredSources } from '../configured-sources.ts'
import { benchmarks } from '../readers/index.ts'
import type { TasksConfig } from '../settings.ts'
import { suites } from '../suites/index.ts'
import { openTasks, type TaskSource } from '../task-source.ts'
import { EvalQuestions } from './eval-questions.ts'
import { type ContaminationSection, sourceFromText } from './settings.ts'

export interface ContaminationConfig extends TasksConfig {
  filter: ContaminationSection
}

interface Context {
  /** The run that is trained from; its own evaluation tasks count too. */
  run?: Pick<Run, 'scan'> | undefined
  signal?: AbortSignal | undefined
  /** Told of held-out tasks that could not be read. */
  onNote?: ((note: string) => void) | undefined
}

/**
 * The questions that must not be trained on: of the sets named in `filter.against`, or else those held out by the run and
 * by the project's own sources.
 */
export async function readEvalQuestions(
  config: ContaminationConfig,
  { run, signal, onNote }: Context,
): Promise<EvalQuestions> {
  const { filter } = config
  const questions = new EvalQuestions(filter)
  const add = async (name: string, source: TaskSource): Promise<void> => {
    for await (const { suite, question } of openTasks({
      ...source,
      ...(signal === undefined ? {} : { signal }),
    }))
      addQuestion(questions, name, suite, question)
  }
  if (filter.against !== undefined) {
    for (const set of filter.against) await add(...namedSet(set, config))
    return questions
  }
  for (const { suite, question, meta } of run?.scan('task') ?? [])
    if (meta['for'] === 'eval') addQuestion(questions, "the run's evaluation tasks", suite, question)
  for (const source of configuredSources(config)) {
    // The splits of a generated suite share no task, and other questions in the same words are no evidence.
    if (suites.has(source.from)) continue
    for (const split of heldOutSplits(config)) {
      try {
        await add(`${source.from}:${split}`, { ...source, split })
      } catch (error) {
        if (!CoaError.isInstance(error) || signal?.aborted === true) throw error
        onNote?.(`training data is not compared with ${source.from}:${split}: ${error.message}`)
      }
    }
  }
  return questions
}

/** Training is measured with the tasks of split dev, if at all. */
function heldOutSplits({ tasks }: TasksConfig): Split[] {
  return tasks.dev_count > 0 ? ['test', 'dev'] : ['test']
}

/**
 * Tasks of a generated suite share their wording, and its splits share no task, so only identical questions count: by
 * n-grams, nearly all training tasks would look contaminated.
 */
function addQuestion(questions: EvalQuestions, name: string, suite: string, question: string): void {
  questions.add(name, question, { wholeOnly: suites.has(suite) })
}

/** Files whole; suites and benchmarks in the split used for evaluation. */
function namedSet(
  set: NonNullable<ContaminationSection['against']>[number],
  { filter, tasks, project }: ContaminationConfig,
): [string, TaskSource] {
  const { from, split } = typeof set === 'string' ? { from: set, split: evalSplit(set) } : set
  const name = typeof set === 'string' ? from : `${from}:${split}`
  return [
    name,
    {
      from,
      data: tasks.data,
      seed: project.seed,
      ...(split === undefined ? {} : { split }),
      // A generated suite is infinite.
      ...(suites.has(from) ? { limit: filter.against_count } : {}),
    },
  ]
}

/** The evaluation split of a suite or benchmark; undefined for all of it. */
function evalSplit(from: string): Split | undefined {
  const named = sourceFromText(from)
  if (typeof named !== 'string')
    throw new ConfigError(`filter.against: "${from}" combines a name and a split`, {
      fix: `Write it as { from = "${named.from}", split = "${named.split}" }.`,
    })
  if (suites.has(from)) return 'test'
  return benchmarks.find(({ name }) => name === from)?.files.find(({ split }) => split === 'test')?.split
}
