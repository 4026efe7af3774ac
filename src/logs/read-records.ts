import { readText } from '../base/reading/index.ts'
import { parseJson } from '../schema/index.ts'
import type { LogRecord, Unreadable } from './contract.ts'

/** Longer files are read only as JSON Lines, one line at a time. */
const LONGEST = 400 * 1024 * 1024

/**
 * The values of a log file: the lines of JSON Lines, the content of a JSON file, or the whole text of any other file.
 * By its name, or by its first character where the name does not say. Text may be gzipped.
 */
export async function* readRecords(file: string): AsyncGenerator<LogRecord | Unreadable> {
  const kind = /\.(jsonl|ndjson|json)(?:\.gz)?$/i.exec(file)?.[1]?.toLowerCase()
  if (kind === 'jsonl' || kind === 'ndjson') return yield* readLines(file)
  let text = ''
  for await (const chunk of readText(file)) {
    text += chunk
    if (text.length > LONGEST) {
      yield { where: file, problem: 'the file is too long to be read at once; convert it to JSON Lines' }
      return
    }
  }
  const isJson = kind === 'json' || /^\s*[[{]/.test(text)
  if (!isJson) return yield { where: file, value: text }
  try {
    yield { where: file, value: parseJson(text) }
  } catch (error) {
    // A file of JSON Lines by another name, or text that happens to start with a bracket.
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    if (lines.length > 1 && isJsonObject(lines[0]!)) yield* readLines(file)
    else if (kind === 'json') yield { where: file, problem: `it is not JSON: ${(error as Error).message}` }
    else yield { where: file, value: text }
  }
}

async function* readLines(file: string): AsyncGenerator<LogRecord | Unreadable> {
  let rest = ''
  let number = 0
  const recordOf = (line: string): LogRecord | Unreadable | undefined => {
    const where = `${file}:${++number}`
    if (line.trim() === '') return undefined
    try {
      return { where, value: parseJson(line) }
    } catch (error) {
      return { where, problem: `it is not JSON: ${(error as Error).message.slice(0, 120)}` }
    }
  }
  for await (const chunk of readText(file)) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      const record = recordOf(line)
      if (record !== undefined) yield record
    }
  }
  const last = recordOf(rest)
  if (last !== undefined) yield last
}

function isJsonObject(line: string): boolean {
  try {
    return typeof parseJson(line) === 'object'
  } catch {
    return false
  }
}
