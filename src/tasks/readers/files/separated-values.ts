import { longestRow, type RawRow } from './raw-row.ts'

/**
 * Comma- or tab-separated rows (RFC 4180): the first row names the columns; a quoted field may contain separators,
 * doubled quotes and line breaks. A quote inside an unquoted field is an ordinary character.
 */
export async function* separatedValues(
  text: AsyncIterable<string>,
  separator: ',' | '\t',
  limit = longestRow,
): AsyncGenerator<RawRow> {
  let header: string[] | undefined
  for await (const { line, fields, isTooLong } of records(text, separator, limit)) {
    if (isTooLong) {
      yield { line, problem: 'the row is too long' }
      continue
    }
    if (fields.length === 1 && fields[0]?.trim() === '') continue
    if (header === undefined) header = fields.map((name) => name.trim())
    else if (fields.length !== header.length) {
      yield { line, problem: `it has ${fields.length} fields, but the header has ${header.length}` }
    } else {
      yield { line, values: Object.fromEntries(header.map((name, index) => [name, fields[index]])) }
    }
  }
}

interface SeparatedRecord {
  /** The line it starts on. */
  line: number
  fields: string[]
  isTooLong: boolean
}

async function* records(
  text: AsyncIterable<string>,
  separator: string,
  limit: number,
): AsyncGenerator<SeparatedRecord> {
  let line = 1
  let start = 1
  let fields: string[] = []
  let field = ''
  let length = 0
  let state: 'start' | 'plain' | 'quoted' | 'after-quote' = 'start'
  const endField = () => {
    fields.push(field)
    field = ''
    state = 'start'
  }
  const endRecord = (): SeparatedRecord => {
    endField()
    const record = { line: start, fields, isTooLong: length > limit }
    fields = []
    length = 0
    start = line
    return record
  }
  for await (const chunk of text) {
    for (const character of chunk) {
      length++
      if (character === '\n') line++
      if (state === 'quoted') {
        if (character === '"') state = 'after-quote'
        else if (length <= limit) field += character
      } else if (character === '"' && state === 'after-quote') {
        field += '"'
        state = 'quoted'
      } else if (character === '"' && state === 'start') state = 'quoted'
      else if (character === separator) endField()
      else if (character === '\n') {
        if (field.endsWith('\r')) field = field.slice(0, -1)
        yield endRecord()
      } else {
        state = 'plain'
        if (length <= limit) field += character
      }
    }
  }
  if (length > 0) yield endRecord()
}
