import { relative, resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { UsageError } from '../../base/errors/index.ts'
import type { Observe } from '../../base/progress/index.ts'
import { buildPrompt, type Language, projectGrammars } from '../../language/grammar/index.ts'
import { type Tokenizer, tokenizerNamed } from '../../language/tokens/index.ts'
import type { Message, Task } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import { assertMayBeWritten } from '../../tasks/index.ts'
import { languageOf } from '../../world/index.ts'
import { type Dataset, openDataset } from './dataset.ts'
import type { Format } from './format.ts'
import { FormatOutput, finishedExport, readFunnel } from './format-output.ts'
import { findFormat } from './formats/index.ts'
import type { ExportCounts, ExportManifest, LeftOut } from './manifest.ts'
import { controlTokenFinder, prepare } from './prepare.ts'
import type { ExportedFile } from './row-file.ts'
import { templateNotes } from './template-notes.ts'

export interface ExportConfig {
  formats: readonly string[]
  /** Each format gets a subfolder of its name. */
  out: string
  /** "bytes", or a folder with tokenizer.json. Without it, text formats count bytes and token formats are refused. */
  tokenizer?: string | undefined
  /** Export every sequence, even if the run is filtered. */
  all?: boolean
  /** Count only; nothing is written. */
  dryRun?: boolean
}

export interface ExportContext {
  run: Run
  /** The project's own grammar, for tasks that use it. */
  language?: Language
  signal?: AbortSignal | undefined
  observe?: Observe
}

export interface FormatSummary {
  format: string
  folder: string
  status: 'written' | 'already exists' | 'not written'
  counts: ExportCounts
  leftOut: LeftOut
  files: ExportedFile[]
  differences: readonly string[]
}

export interface ExportSummary {
  run: string
  selection: 'filter' | 'all'
  formats: FormatSummary[]
}

/** Sequences between checks for cancellation. */
const YIELD_EVERY = 64

/**
 * Writes a run's dataset in one or more formats in a single pass. A folder that already has the same export is left alone, so
 * an interrupted export can simply be repeated.
 *
 * @example
 * import { exportRun, openRun } from 'chain-of-agents'
 *
 * using run = openRun('runs/my-run')
 * const { formats } = await exportRun({ formats: ['trl-messages'], out: 'dataset' }, { run })
 * for (const { format, counts } of formats) console.log(format, counts)
 */
export async function exportRun(config: ExportConfig, context: ExportContext): Promise<ExportSummary> {
  const { run } = context
  const wanted = [...new Set(config.formats)].map(findFormat)
  const dataset = openDataset(run, { all: config.all === true })
  requireRecords(run, wanted, dataset)
  requireTokenizer(wanted, config.tokenizer)
  const tokenizerName = config.tokenizer ?? 'bytes'
  const tokenizer = await tokenizerFor(tokenizerName)
  const date = run.manifest.createdAt
  const summaries = new Map<Format, FormatSummary>()
  const outputs: FormatOutput[] = []
  const originOf = (folder: string): Pick<ExportManifest, 'source' | 'settings'> => ({
    source: dataset.source,
    settings: {
      tokenizer: relativeTokenizer(folder, tokenizerName),
      run: relative(folder, run.dir),
      date,
    },
  })
  for (const format of wanted) {
    const folder = resolve(config.out, format.name)
    const done = config.dryRun === true ? undefined : finishedExport(folder, format, originOf(folder))
    if (done !== undefined) summaries.set(format, summaryOf(format, folder, 'already exists', done))
    else outputs.push(new FormatOutput(format, folder, { dryRun: config.dryRun === true }))
  }
  try {
    await writeSequences(outputs, dataset, tokenizer, date, context)
    await writeTasks(outputs, context)
    for (const output of outputs) {
      const { format, folder, tally } = output
      if (config.dryRun === true) {
        summaries.set(format, summaryOf(format, folder, 'not written', { ...tally, files: [] }))
        continue
      }
      const notes = format.carries === 'text' ? templateNotes(tokenizer) : []
      const finished = output.finish({
        origin: originOf(folder),
        tokenizer,
        funnel: readFunnel(run.dir),
        notes,
      })
      summaries.set(format, summaryOf(format, folder, 'written', finished))
    }
  } catch (error) {
    for (const output of outputs) output.discard()
    throw error
  }
  const { selection } = dataset.source
  return { run: run.id, selection, formats: wanted.map((format) => summaries.get(format)!) }
}

async function writeSequences(
  outputs: readonly FormatOutput[],
  dataset: Dataset,
  tokenizer: Tokenizer,
  date: string,
  { run, signal, observe }: ExportContext,
): Promise<void> {
  if (!outputs.some(({ format }) => format.carries !== 'tasks')) return
  const findControlToken = controlTokenFinder(tokenizer)
  let done = 0
  for (const { sequence, weight } of dataset.entries()) {
    const prepared = prepare(tokenizer, sequence, date)
    const task = sequence.taskId === undefined ? undefined : run.get('task', sequence.taskId)
    const facts = { weight, task, hasControlToken: findControlToken(sequence) }
    for (const output of outputs) {
      if (output.format.carries !== 'tasks') output.addSequence(output.format, prepared, facts)
    }
    observe?.({ stage: 'export', done: ++done, total: dataset.total, unit: 'sequences' })
    if (done % YIELD_EVERY === 0) await nextTurn()
    signal?.throwIfAborted()
  }
}

async function writeTasks(
  outputs: readonly FormatOutput[],
  { run, signal, observe, language = {} }: ExportContext,
): Promise<void> {
  const grammarNamed = projectGrammars(languageOf(language, run))
  for (const output of outputs) {
    if (output.format.carries !== 'tasks') continue
    let done = 0
    for (const task of run.scan('task')) {
      const reason = whyNotWritten(task)
      if (reason === undefined) output.addTask(output.format, task, await promptOf(task, grammarNamed))
      else output.tally.leaveOut(task.id, reason)
      observe?.({ stage: 'export', done: ++done, total: run.count('task'), unit: 'tasks' })
      signal?.throwIfAborted()
    }
  }
}

export function whyNotWritten(task: Task): string | undefined {
  if (!task.question.isWellFormed()) return 'a lone surrogate in its text, which UTF-8 cannot represent'
  try {
    assertMayBeWritten(task)
    return undefined
  } catch {
    return 'its benchmark is published in encrypted form only'
  }
}

/** The prompt for a task, the same as everywhere else. */
export async function promptOf(
  task: Task,
  grammarNamed: ReturnType<typeof projectGrammars>,
): Promise<Message[]> {
  return buildPrompt(await grammarNamed(task.domain), task.question)
}

export async function tokenizerFor(name: string): Promise<Tokenizer> {
  return await tokenizerNamed(name)
}

function relativeTokenizer(folder: string, tokenizer: string): string {
  return tokenizer === 'bytes' ? tokenizer : relative(folder, resolve(tokenizer))
}

function requireRecords(run: Run, wanted: readonly Format[], dataset: Dataset): void {
  if (wanted.length === 0) {
    throw new UsageError('no format is named', { fix: 'Name one or more with --format.' })
  }
  if (wanted.some(({ carries }) => carries !== 'tasks') && dataset.total === 0) {
    throw new UsageError(`run ${run.id} has no sequences to export`, {
      fix:
        dataset.source.selection === 'filter'
          ? 'Its filter kept none: relax it, or export every sequence with --all.'
          : 'Make some with `coa distill`, or see what the run has with `coa run show`.',
    })
  }
  if (wanted.some(({ carries }) => carries === 'tasks') && run.count('task') === 0) {
    throw new UsageError(`run ${run.id} has no tasks to export`, {
      fix: 'Leave verl-rl out, or use a run that has tasks.',
    })
  }
}

/** Token ids mean nothing without their model: another trainer would read bytes as its own tokens. */
function requireTokenizer(wanted: readonly Format[], tokenizer: string | undefined): void {
  const inTokens = wanted.find(({ carries }) => carries === 'tokens')
  if (inTokens === undefined || tokenizer !== undefined) return
  throw new UsageError(`${inTokens.name} contains token ids, but no tokenizer is named`, {
    fix: 'Name the folder of the model to train: --tokenizer FOLDER (with its tokenizer.json).',
  })
}

function summaryOf(
  format: Format,
  folder: string,
  status: FormatSummary['status'],
  { counts, leftOut, files }: Pick<ExportManifest, 'counts' | 'leftOut' | 'files'>,
): FormatSummary {
  return { format: format.name, folder, status, counts, leftOut, files, differences: format.differences }
}
