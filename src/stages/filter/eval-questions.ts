import { ConfigError } from '../../base/errors/index.ts'
import { benchmarks, openTasks, type Split, suites } from '../../tasks/index.ts'
import type { TasksConfig } from '../../tasks/settings.ts'
import { EvalQuestions } from './contamination.ts'
import { type FilterSection, sourceFromText } from './settings.ts'

/**
 * Reads the sets named in `filter.against`: files whole, suites and benchmarks in the split they are measured on. A
 * generated suite asks different things in the same words, and its splits share no task, so there only the whole
 * question tells: by runs of words nearly all its training tasks would be taken for test tasks.
 */
export async function readEvalQuestions(
  { filter, tasks, project }: Omit<TasksConfig, 'language'> & { filter: FilterSection },
  signal: AbortSignal,
): Promise<EvalQuestions> {
  const questions = new EvalQuestions(filter.overlap_words)
  for (const set of filter.against) {
    const { from, split } = typeof set === 'string' ? { from: set, split: measuredSplit(set) } : set
    const name = typeof set === 'string' ? from : `${from}:${split}`
    const source = {
      from,
      data: tasks.data,
      seed: project.seed,
      signal,
      ...(split === undefined ? {} : { split }),
      // A generated suite has no end.
      ...(suites.has(from) ? { limit: filter.against_count } : {}),
    }
    for await (const { suite, question } of openTasks(source))
      questions.add(name, question, { wholeOnly: suites.has(suite) })
  }
  return questions
}

/** The split that a suite or benchmark is measured on; undefined for all of it. */
function measuredSplit(from: string): Split | undefined {
  const named = sourceFromText(from)
  if (typeof named !== 'string')
    throw new ConfigError(`filter.against: "${from}" is a name and a split`, {
      fix: `Write it as { from = "${named.from}", split = "${named.split}" }.`,
    })
  if (suites.has(from)) return 'test'
  return benchmarks.find(({ name }) => name === from)?.files.find(({ split }) => split === 'test')?.split
}
