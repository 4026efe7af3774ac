import { statSync } from 'node:fs'
import { UsageError } from '../../../base/errors/index.ts'
import {
  type LogFormat,
  type LogRecord,
  readRecords,
  recordsIn,
  type Unreadable,
} from '../../../logs/index.ts'

/** Files whose first record has the same format. */
export interface LogGroup {
  format: LogFormat
  files: string[]
}

/** The format of each file, by its first records. Files that none recognizes are returned too. */
export async function groupFiles(
  files: readonly string[],
  format: LogFormat | undefined,
): Promise<{ groups: LogGroup[]; unknown: Unreadable[] }> {
  const groups = new Map<string, LogGroup>()
  const unknown: Unreadable[] = []
  for (const file of files) {
    assertFile(file)
    const found = await formatOfFile(file, format)
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

/** Logs may begin with lines about themselves. */
const FIRST_RECORDS = 20

async function formatOfFile(file: string, wanted: LogFormat | undefined): Promise<LogFormat | Unreadable> {
  let problem: Unreadable | undefined
  let read = 0
  for await (const record of readRecords(file)) {
    if ('problem' in record) {
      problem ??= record
      continue
    }
    const { format } = recordsIn(record, wanted)
    if (format !== undefined) return format
    problem ??= { where: record.where, problem: 'no format recognizes it' }
    if (++read === FIRST_RECORDS) break
  }
  return problem ?? { where: file, problem: 'the file is empty' }
}

/**
 * The records of some files in one format. Lines that are no records are passed to `onStray`, and records that only another
 * format recognizes, as in a file of several programs, to `onOther`.
 */
export async function* recordsOf(
  { format, files }: LogGroup,
  signal: AbortSignal,
  onStray: (record: Unreadable) => void,
  onOther?: (format: LogFormat, record: LogRecord) => void,
): AsyncGenerator<LogRecord> {
  for (const file of files) {
    for await (const record of readRecords(file)) {
      signal.throwIfAborted()
      if ('problem' in record) {
        onStray(record)
        continue
      }
      const other = onOther === undefined ? undefined : otherFormatOf(record, format)
      if (other === undefined) yield* recordsIn(record, format).records
      else for (const one of other.records) onOther!(other.format, one)
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
