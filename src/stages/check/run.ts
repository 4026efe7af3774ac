import { inParallel } from '../../base/concurrency/index.ts'
import { UsageError } from '../../base/errors/index.ts'
import { knownGrammars } from '../../language/grammar/index.ts'
import type { LanguageSection } from '../../language/settings.ts'
import { closeAlgebra } from '../../reward/index.ts'
import type { Task, Verdict } from '../../schema/index.ts'
import type { ProjectSection } from '../../settings/index.ts'
import { languageOf } from '../../world/index.ts'
import type { WorldConfig } from '../../world/settings.ts'
import type { StageContext } from '../stage.ts'
import { type Attempt, Attempts, groupKey } from './attempts.ts'
import { checkContext } from './check-context.ts'
import { compare } from './compare.ts'
import { GoldAnswers } from './gold-answers.ts'
import { CheckReport, type CheckSummary } from './report.ts'
import type { CheckSection } from './settings.ts'
import { judgeWithoutGold, RELATIVE, verdictsWithoutGold } from './without-gold.ts'

export interface CheckConfig extends Pick<WorldConfig, 'sandbox' | 'judge' | 'tools'> {
  check: CheckSection
  language: LanguageSection
  project: ProjectSection
}

export interface CheckOptions {
  /** Tasks with gold answers, in addition to those of the run, and before them. */
  tasks?: readonly Task[]
  /**
   * Who decides where there is no gold answer: a judge that sees one attempt at a time, which also compares whole texts
   * with short gold answers, or a judge that compares all attempts at a task. Unset: nobody.
   */
  without?: 'judge' | 'relative'
  /** Check what has a verdict once more. */
  again?: boolean
}

/**
 * Gives a verdict to every answer of a run that has none yet, and writes it at once, so an interrupted check continues
 * where it stopped. What could not be decided before is checked again.
 */
export async function checkRun(
  { run, config, signal, observe }: StageContext<CheckConfig>,
  { tasks = [], without, again = false }: CheckOptions,
): Promise<CheckSummary> {
  const judge = without === undefined ? undefined : judgeWithoutGold(config)
  const gold = new GoldAnswers(tasks, run.scan('task'))
  const attempts = new Attempts(run, (await knownGrammars(languageOf(config.language, run))).byName)
  refuseEmpty(attempts.count, run.id)
  const report = new CheckReport()
  const total = attempts.count
  let done = 0
  const count = (by: number): void => {
    done += by
    observe({ stage: 'check', done, total, unit: 'answers' })
  }
  const write = (attempt: Attempt, verdict: Verdict): void => {
    signal.throwIfAborted()
    if (!sameVerdict(attempt.verdict, verdict)) attempt.write(verdict)
    report.checked(attempt.id, verdict)
  }
  /** Those without a gold answer, by task; only their ids are held. */
  const groups = new Map<string, string[]>()
  const judged = without === 'judge' ? ['judge'] : []
  const { context, close } = await checkContext(config, new Set([...gold.checkers, ...judged]))
  count(0)
  try {
    await inParallel(attempts.all(), config.judge.concurrency, async (attempt) => {
      const { id, verdict } = attempt
      const task = gold.of(attempt)
      if (isSettled(attempt, again) && !(without === 'relative' && task === undefined && isRelative(verdict)))
        report.before(verdict!)
      else if (attempt.failure !== undefined) report.unchecked(id, `the run failed: ${attempt.failure}`)
      else if (task !== undefined) {
        const { gold: wanted, question } = task
        write(attempt, await compare(wanted, attempt.answer, { ...context, question, signal }))
      } else if (judge === undefined) report.unchecked(id, 'there is no gold answer')
      else {
        const key = without === 'relative' ? groupKey(attempt) : id
        groups.set(key, [...(groups.get(key) ?? []), id])
        return
      }
      count(1)
    })
    await inParallel(groups.values(), config.judge.concurrency, async (ids) => {
      const group = ids.flatMap((id) => attempts.get(id) ?? [])
      // What was compared before is compared again only if an attempt was added.
      if (group.every((attempt) => isSettled(attempt, again)))
        for (const { verdict } of group) report.before(verdict!)
      else {
        const { min_score: minScore } = config.check
        const options = { minScore, relative: without === 'relative', signal }
        const verdicts = await verdictsWithoutGold(group, judge!, options)
        for (const [at, attempt] of group.entries()) write(attempt, verdicts[at]!)
      }
      count(group.length)
    })
  } finally {
    await close()
    closeAlgebra()
  }
  const summary = report.summary()
  refuseNone(summary, total)
  return summary
}

function isSettled({ verdict }: Attempt, again: boolean): boolean {
  return !again && verdict !== undefined && verdict.outcome !== 'undecided'
}

const isRelative = (verdict: Verdict | undefined): boolean => verdict?.checker === RELATIVE

function sameVerdict(one: Verdict | undefined, other: Verdict): boolean {
  return one !== undefined && JSON.stringify(one) === JSON.stringify(other)
}

function refuseEmpty(count: number, run: string): void {
  if (count > 0) return
  throw new UsageError(`run ${run} has no answers to check`, {
    fix: 'Import logs with `coa import`, or record a team with `coa teach`.',
  })
}

/** If nothing could be checked, the command has failed. */
function refuseNone({ figures, reasons }: CheckSummary, total: number): void {
  if (figures.correct + figures.wrong > 0) return
  const [first] = reasons
  const isUnchecked = first?.outcome === 'unchecked'
  throw new UsageError(
    `none of the ${total} answers could be checked: ${reasons
      .slice(0, 3)
      .map(({ count, reason }) => `${count} × ${reason}`)
      .join('; ')}`,
    {
      fix: isUnchecked
        ? 'Name gold answers with --tasks, or let the [judge] model decide with --judge or --relative.'
        : 'Check the [judge] and [sandbox] settings with `coa doctor`, then run the same command again.',
    },
  )
}
