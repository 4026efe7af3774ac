import { benchmarks, openTasks, parseSplit, type Split, suites } from '../../tasks/index.ts'
import type { TasksConfig } from '../../tasks/settings.ts'
import { EvalQuestions } from './contamination.ts'
import type { FilterSection } from './settings.ts'

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
  for (const name of filter.against) {
    const { from, split } = sourceOf(name)
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

/** "gsm8k" is its test split if it has one; "gsm8k:train" is the split named. */
function sourceOf(name: string): { from: string; split: Split | undefined } {
  const at = name.lastIndexOf(':')
  const from = at < 0 ? name : name.slice(0, at)
  const benchmark = benchmarks.find((known) => known.name === from)
  if (benchmark === undefined && !suites.has(from)) return { from: name, split: undefined }
  if (at >= 0) return { from, split: parseSplit(name.slice(at + 1)) }
  const measuredOnTest = benchmark === undefined || benchmark.files.some(({ split }) => split === 'test')
  return { from, split: measuredOnTest ? 'test' : undefined }
}
