import { statSync } from 'node:fs'
import { UsageError } from '../../../base/errors/index.ts'
import {
  type LogFormat,
  type LogRecord,
  proposeMap,
  readRecords,
  recordsIn,
  renamed,
  type Unreadable,
} from '../../../logs/index.ts'

/** How many records of a file are looked at: the first may be a header. */
const FIRST = 20

type Rules = Readonly<Record<string, string>>

/** Files with records of the same format. */
export interface LogGroup {
  format: LogFormat
  files: string[]
}

/** The format of each file, by its first records. Files that none recognizes are returned too. */
export async function groupFiles(
  files: readonly string[],
  format: LogFormat | undefined,
  rename: Rules,
): Promise<{ groups: LogGroup[]; unknown: Unreadable[] }> {
  const groups = new Map<string, LogGroup>()
  const unknown: Unreadable[] = []
  for (const file of files) {
    assertFile(file)
    const found = await formatOfFile(file, format, rename)
    if ('problem' in found) unknown.push(found)
    else {
      const group = groups.get(found.name) ?? { format: found, files: [] }
      groups.set(found.name, group)
      group.files.push(file)
    }
  }
  return { groups: [...groups.values()], unknown }
}

function assertFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined)
    throw new UsageError(`there is no file ${file}`, { fix: 'Give the paths of log files.' })
  if (found.isDirectory())
    throw new UsageError(`${file} is a folder`, { fix: `Name its files, for example with ${file}/*.json.` })
}

async function formatOfFile(
  file: string,
  wanted: LogFormat | undefined,
  rename: Rules,
): Promise<LogFormat | Unreadable> {
  let problem: Unreadable | undefined
  const values: unknown[] = []
  for await (const record of recordsOfFile(file, rename)) {
    if ('problem' in record) {
      problem ??= record
      continue
    }
    const { format } = recordsIn(record, wanted)
    if (format !== undefined) return format
    problem ??= { where: record.where, problem: 'no format recognizes it' }
    values.push(record.value)
    if (values.length === FIRST) break
  }
  const rule = proposeMap(values)
  return {
    ...(problem ?? { where: file, problem: 'the file is empty' }),
    ...(rule === undefined ? {} : { rule }),
  }
}

async function* recordsOfFile(file: string, rename: Rules): AsyncGenerator<LogRecord | Unreadable> {
  for await (const record of readRecords(file))
    yield 'problem' in record ? record : { ...record, value: renamed(record.value, rename) }
}

export interface Rest {
  /** Lines that are no records. */
  onStray: (record: Unreadable) => void
  /** What a record has beside its runs. */
  onBeside: (value: unknown) => void
  /** Records that only another format recognizes, as in a file of several programs. */
  onOther?: ((format: LogFormat, record: LogRecord) => void) | undefined
}

/** The records of some files in one format. What is not one of them is passed on. */
export async function* recordsOf(
  { format, files }: LogGroup,
  rename: Rules,
  signal: AbortSignal,
  { onStray, onBeside, onOther }: Rest,
): AsyncGenerator<LogRecord> {
  for (const file of files) {
    for await (const record of recordsOfFile(file, rename)) {
      signal.throwIfAborted()
      if ('problem' in record) {
        onStray(record)
        continue
      }
      const other = onOther === undefined ? undefined : otherFormatOf(record, format)
      if (other === undefined) {
        const { records, beside } = recordsIn(record, format)
        if (beside !== undefined) onBeside(beside)
        yield* records
      } else for (const one of other.records) onOther!(other.format, one)
    }
  }
}

function otherFormatOf(
  record: LogRecord,
  own: LogFormat,
): { format: LogFormat; records: LogRecord[] } | undefined {
  if (own.takes?.(record.value) === true) return undefined
  const { format, records } = recordsIn(record)
  return format === undefined || format === own ? undefined : { format, records }
}
