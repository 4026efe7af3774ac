import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { UsageError } from '../base/errors/index.ts'
import { parseJson, Stream, streamText } from '../schema/index.ts'
import { readInput } from './input.ts'

/**
 * Texts to train a tokenizer on: whole text files, or one text per record of a JSON lines file. A record's text is in
 * `field`; for coa's own sequence records, it is the prompt and the stream.
 */
export async function* readTexts(
  files: readonly string[],
  field: string | undefined,
): AsyncGenerator<string> {
  for (const file of files) {
    if (/\.jsonl$/.test(file)) yield* readRecords(file, field)
    else yield readInput(file)
  }
}

async function* readRecords(file: string, field: string | undefined): AsyncGenerator<string> {
  let number = 0
  try {
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      number++
      const json = number === 1 ? line.replace(/^\ufeff/, '') : line
      if (json.trim() !== '') yield* textsOf(json, field, `${file}:${number}`)
    }
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    throw new UsageError(`cannot read ${file}: ${(cause as Error).message}`, {
      fix: 'Give the path of an existing file.',
      cause,
    })
  }
}

function textsOf(json: string, field: string | undefined, where: string): string[] {
  let record: unknown
  try {
    record = parseJson(json)
  } catch (cause) {
    throw new UsageError(`${where} is not JSON: ${(cause as Error).message}`, {
      fix: 'Give one JSON object per line, or a text file with another extension.',
      cause,
    })
  }
  const text = (record as Record<string, unknown> | null)?.[field ?? 'text']
  if (typeof text === 'string') return [text]
  const sequence = field === undefined ? Stream.safeParse(record) : undefined
  if (sequence?.success) {
    return [...sequence.data.prompt.map(({ content }) => content), streamText(sequence.data)]
  }
  const found = typeof record === 'object' && record !== null ? Object.keys(record).join(', ') : typeof record
  throw new UsageError(`${where} has no text in "${field ?? 'text'}"; it has ${found || 'nothing'}`, {
    fix: 'Give the name of the field that contains the text with --field.',
  })
}
