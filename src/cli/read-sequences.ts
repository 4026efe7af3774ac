import { UsageError } from '../base/errors/index.ts'
import {
  buildPrompt,
  type Chain,
  type Grammar,
  isWellFormed,
  parseChain,
  spansOf,
} from '../language/grammar/index.ts'
import { parseJson, Stream } from '../schema/index.ts'
import { readInput } from './input.ts'

export interface InputSequence extends Pick<Stream, 'id' | 'prompt' | 'spans'> {
  /** Problems found while parsing a text; empty for a sequence read from a record. */
  problems: string[]
}

/** Reads a chain as text, or sequences as JSON or JSON lines, detected by file name or, on standard input, by content. */
export function readSequences(file: string, grammar: Grammar, question: string | undefined): InputSequence[] {
  const text = readInput(file)
  const isRecords = /\.jsonl?$/.test(file) || (file === '-' && text.trimStart().startsWith('{'))
  if (!isRecords) {
    const chain = parseChain(grammar, text)
    const prompt = question === undefined ? [] : buildPrompt(grammar, question)
    return [
      { id: file, prompt, spans: spansOf(chain), problems: isWellFormed(chain) ? [] : problemsOf(chain) },
    ]
  }
  const sequences = file.endsWith('.json')
    ? [toSequence(text.replace(/^\ufeff/, ''), file)]
    : text
        .replace(/^\ufeff/, '')
        .split('\n')
        .flatMap((line, index) => (line.trim() === '' ? [] : [toSequence(line, `${file}:${index + 1}`)]))
  if (sequences.length > 0) return sequences
  throw new UsageError(`${file} has no sequences`, { fix: 'Give sequence records, one per line.' })
}

function toSequence(json: string, where: string): InputSequence {
  const fix = 'Give sequence records, as printed by `coa run show RUN --kind sequence --jsonl`.'
  let value: unknown
  try {
    value = parseJson(json)
  } catch (cause) {
    throw new UsageError(`${where} is not JSON: ${(cause as Error).message}`, { fix, cause })
  }
  const parsed = Stream.safeParse(value)
  if (parsed.success) return { ...parsed.data, problems: [] }
  const issue = parsed.error.issues[0]!
  throw new UsageError(`${where} is not a sequence: ${issue.path.join('.') || 'record'}: ${issue.message}`, {
    fix,
  })
}

function problemsOf({ diagnostics, order }: Chain): string[] {
  return [
    ...diagnostics.map(({ code, message }) => `${code}: ${message}`),
    ...order.violations.map(({ message }) => message),
  ]
}
