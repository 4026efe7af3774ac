import { allFailed, type Failure, UsageError } from '../../../base/errors/index.ts'
import { toolLikeTexts } from '../../../language/voice/index.ts'
import {
  formatNamed,
  type LogFormat,
  type LoggedRun,
  type LogMap,
  type LogRecord,
  mappedFormat,
  questionOf,
  taskIdOf,
  toTrajectory,
  type Unreadable,
  unread,
} from '../../../logs/index.ts'
import type { Task, Trajectory } from '../../../schema/index.ts'
import type { StageContext } from '../../stage.ts'
import { DeclaredTools } from './declared-tools.ts'
import { ImportReport, type ImportSummary } from './import-report.ts'
import { groupFiles, recordsOf } from './log-groups.ts'
import { LoggedTasks } from './logged-tasks.ts'

export interface ImportConfig {
  language: { grammar?: string | undefined }
}

export interface ImportOptions {
  files: readonly string[]
  /** Name of a format; by default that of each file's first record. */
  format?: string
  /** Describes logs that no format does, or renames what theirs does not read. */
  map?: LogMap
  /** Tasks with gold answers; a run belongs to the one with its id or question. */
  tasks?: readonly Task[]
  /** Do not import runs with text that looks like tool output. */
  strict?: boolean
  /** Only the report counts: that nothing was understood is no failure then. */
  reportOnly?: boolean
}

const BATCH = 100

/** Reads logs into a run: one trajectory per logged run, the tools they used, and tasks where gold answers are known. */
export async function importLogs(
  { run, config, observe, signal }: Pick<StageContext<ImportConfig>, 'run' | 'config' | 'observe' | 'signal'>,
  { files, format, map, tasks = [], strict = false, reportOnly = false }: ImportOptions,
): Promise<ImportSummary> {
  const mapped = map === undefined ? undefined : mappedFormat(map)
  const wanted = mapped ?? (format === undefined ? undefined : formatNamed(format))
  const rename = map?.rename ?? {}
  const { groups, unknown } = await groupFiles(files, wanted, rename)
  const report = new ImportReport()
  const failures: Failure[] = []
  const fail = (one: Unreadable): void => {
    report.unreadable(one)
    failures.push({ boundary: 'usage', message: `${one.where}: ${one.problem}` })
  }
  for (const one of unknown) fail(one)
  const domain = config.language.grammar ?? 'open'
  const known = new LoggedTasks(domain, tasks)
  const tools = new DeclaredTools()
  const ids = new Set<string>()
  let batch: Trajectory[] = []
  let done = 0
  let refused = 0
  const flush = (): void => {
    run.appendMany('trajectory', batch)
    batch = []
    observe({ stage: 'import', done, unit: 'runs' })
  }
  const read = async (format: LogFormat, records: AsyncIterable<LogRecord>): Promise<void> => {
    for await (const logged of format.read(records)) {
      if ('problem' in logged) {
        fail(logged)
        continue
      }
      const { trajectory, task } = convert(logged, format, known, domain)
      if (trajectory.events.length === 0) {
        fail({ where: logged.where, problem: `nothing in it is a message of the format ${format.name}` })
        continue
      }
      const toolLike = toolLikeTexts(trajectory.events)
      report.addToolLike(toolLike)
      if (strict && toolLike.length > 0) {
        report.raise('refused')
        refused++
        continue
      }
      // Attempts at one task may share an id, and importing a file again must find what it imported before.
      const id = uniqueId(trajectory.id, ids)
      const before = run.has('trajectory', id)
      report.add(format.name, trajectory, logged.source)
      if (before) report.raise('imported before')
      tools.offer(logged.tools ?? [])
      tools.add(trajectory)
      batch.push({ ...trajectory, id })
      if (task !== undefined && !run.has('task', task.id)) {
        run.append('task', task)
        report.raise('tasks')
      }
      if (++done % BATCH === 0) flush()
    }
  }
  const onBeside = (value: unknown): void => report.addLeftOut(unread([value], []), [value])
  const others = new Map<LogFormat, LogRecord[]>()
  const onOther = (format: LogFormat, record: LogRecord): void => {
    const found = others.get(format)
    if (found === undefined) others.set(format, [record])
    else found.push(record)
  }
  for (const group of groups) {
    report.format(group.format.name, group.files.length)
    const rest = { onStray: fail, onBeside, onOther: wanted === undefined ? onOther : undefined }
    await read(group.format, recordsOf(group, rename, signal, rest))
  }
  for (const [format, records] of others) {
    report.format(
      format.name,
      new Set(records.map(({ where }) => where.replace(/(?::\d+)?(?:#[^#]*)?$/, ''))).size,
    )
    await read(format, inOrder(records))
  }
  flush()
  tools.write(run)
  if (done === 0 && refused === 0 && !reportOnly)
    throw failures.length === 0
      ? new UsageError('the logs contain no runs', {
          fix: 'Check the files, or name their format with --format.',
        })
      : allFailed(
          'records',
          failures,
          'See what they are like with --dry-run, which also proposes a map where it can; or name their format with --format.',
        )
  return report.summary()
}

function convert(
  logged: LoggedRun,
  format: LogFormat,
  known: LoggedTasks,
  domain: string,
): { trajectory: Trajectory; task: Task | undefined } {
  const question = logged.question ?? questionOf(logged.items)
  const named = known.taskOf(logged, question)
  // The order of a log is its own, whatever grammar its task would have.
  const task = named === undefined ? undefined : { ...named, domain }
  const taskId = task?.id ?? taskIdOf(question)
  const id = logged.id || taskId
  const trajectory = toTrajectory(logged, { id, taskId, team: format.name, markup: format.markup })
  const meta = {
    domain,
    suite: 'import',
    ...trajectory.meta,
    importedFrom: logged.where,
  }
  return { trajectory: { ...trajectory, meta }, task }
}

async function* inOrder(records: readonly LogRecord[]): AsyncGenerator<LogRecord> {
  yield* records
}

function uniqueId(id: string, ids: Set<string>): string {
  let unique = id
  for (let number = 2; ids.has(unique); number++) unique = `${id}-${number}`
  ids.add(unique)
  return unique
}
