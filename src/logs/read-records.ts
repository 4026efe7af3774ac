import { readText } from '../base/reading/index.ts'
import type { LogRecord, Unreadable } from './contract.ts'
import { completedJson, parseLogJson } from './log-json.ts'
import { pythonValue } from './python-literal.ts'

/** Longer files are read only as JSON Lines, one line at a time. */
const LONGEST = 400 * 1024 * 1024

/**
 * The values of a log file: the lines of JSON Lines, the content of a JSON file, or the whole text of any other file.
 * By its name, or by its content where the name does not say. Text may be gzipped.
 */
export async function* readRecords(file: string): AsyncGenerator<LogRecord | Unreadable> {
  const kind = /\.(jsonl|ndjson|json)(?:\.gz)?$/i.exec(file)?.[1]?.toLowerCase()
  if (kind === 'jsonl' || kind === 'ndjson') return yield* readLines(file, readText(file))
  let text = ''
  for await (const chunk of readText(file)) {
    text += chunk
    if (text.length > LONGEST) {
      yield { where: file, problem: 'the file is too long to be read at once; convert it to JSON Lines' }
      return
    }
  }
  if (kind === 'json' || /^\s*[[{]/.test(text)) yield* readJson(file, text, kind === 'json')
  else if (hasLinesOfJson(text)) yield* readLines(file, [text])
  else yield* textOrPrinted(file, text)
}

/** What Python prints, one value or one on each line; else the text itself. */
function* textOrPrinted(file: string, text: string): Generator<LogRecord> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const isPrinted = (line: string): boolean => typeof pythonValue(line) === 'object'
  if (lines.length > 1 && lines.slice(0, FIRST_LINES).every(isPrinted))
    for (const [index, line] of lines.entries())
      yield { where: `${file}:${index + 1}`, value: pythonValue(line) ?? line }
  else yield { where: file, value: pythonValue(text) ?? text }
}

async function* readJson(
  file: string,
  text: string,
  mustBeJson: boolean,
): AsyncGenerator<LogRecord | Unreadable> {
  try {
    yield { where: file, value: parseLogJson(text) }
  } catch (error) {
    // Several values, one after the other; or text that happens to start with a bracket.
    const found: (LogRecord | Unreadable)[] = []
    for await (const record of readLines(file, [text])) found.push(record)
    const rest = found.some((record) => 'value' in record) ? undefined : completedJson(text)
    if (rest !== undefined) {
      yield { where: file, problem: 'the file ends early; what is complete was read' }
      yield { where: file, value: rest }
    } else if (found.some((record) => 'value' in record)) yield* found
    else if (mustBeJson) yield { where: file, problem: `it is not JSON: ${(error as Error).message}` }
    else yield* textOrPrinted(file, text)
  }
}

/** How many lines decide whether a text consists of JSON values. */
const FIRST_LINES = 20

/** Whether a text without a telling name is a log in which most lines are or contain an object. */
function hasLinesOfJson(text: string): boolean {
  const lines = text
    .split('\n', 2 * FIRST_LINES)
    .filter((line) => line.trim() !== '')
    .slice(0, FIRST_LINES)
  return lines.filter((line) => objectIn(line) !== undefined).length * 2 >= Math.max(lines.length, 1)
}

/** The values on the lines of a text, one on each or printed over several, also after what a logger writes before them. */
async function* readLines(
  file: string,
  chunks: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<LogRecord | Unreadable> {
  const values = new Values(file)
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) yield* values.add(line)
  }
  yield* values.add(rest)
  yield* values.end()
}

class Values {
  readonly #file: string
  #number = 0
  /** The lines of a value that began on one line and has not ended. */
  #open: string[] = []
  #start = 0

  constructor(file: string) {
    this.#file = file
  }

  *add(line: string): Generator<LogRecord | Unreadable> {
    this.#number++
    // Printed over several lines, everything inside a value is indented.
    if (this.#open.length > 0 && !/^[[{]/.test(line)) {
      this.#open.push(line)
      if (/^[\]}]/.test(line)) yield* this.end()
      return
    }
    yield* this.end()
    if (line.trim() === '') return
    const value = valueIn(line)
    if (value !== undefined) yield { where: `${this.#file}:${this.#number}`, value }
    else {
      this.#start = this.#number
      this.#open = [line]
      if (!/^[[{]/.test(line)) yield* this.end()
    }
  }

  /** The value that is open, or why it is none. */
  *end(): Generator<LogRecord | Unreadable> {
    if (this.#open.length === 0) return
    const text = this.#open.join('\n')
    const where = `${this.#file}:${this.#start}`
    this.#open = []
    try {
      yield { where, value: parseLogJson(text) }
    } catch (error) {
      yield { where, problem: `it is not JSON: ${(error as Error).message.slice(0, 120)}` }
    }
  }
}

function valueIn(line: string): unknown {
  try {
    return parseLogJson(line)
  } catch {
    return objectIn(line)
  }
}

/** What loggers write before a message: a level or a time. Other words, such as "Action Input:", belong to a text. */
const LOGGED = /^\W{0,3}$|\b(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|TRACE)\b|\d\d:\d\d/i

/** The object that a line is, or ends with after what a logger writes, as in `INFO:events:{"type": …}`. */
function objectIn(line: string): unknown {
  const before = /^[^{]{0,300}?(?=\{\s?")/.exec(line)?.[0]
  if (before === undefined || !LOGGED.test(before)) return undefined
  try {
    return parseLogJson(line.slice(before.length))
  } catch {
    return undefined
  }
}
