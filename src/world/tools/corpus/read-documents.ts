import { createReadStream, readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip, gunzipSync } from 'node:zlib'
import { UsageError } from '../../../base/errors/index.ts'
import { parseJson } from '../../../schema/index.ts'
import type { TextDocument } from '../../../store/index.ts'
import { readHtml } from '../read-page/html-reader.ts'

/** A document, or why an item could not be read: one bad line never stops a build. */
export type ReadItem = { document: TextDocument } | { problem: string }

/** The documents in a file: JSON Lines, Markdown, HTML or plain text, optionally gzipped. */
export async function* readDocuments(file: string): AsyncGenerator<ReadItem> {
  const name = file.replace(/\.gz$/i, '')
  switch (extname(name).toLowerCase()) {
    case '.jsonl':
    case '.ndjson':
      yield* readJsonLines(file)
      return
    case '.md':
    case '.markdown':
      yield markdownDocument(file, readText(file))
      return
    case '.html':
    case '.htm': {
      const { title, text } = await readHtml(readText(file))
      yield nonEmpty(file, title === '' ? basename(name) : title, text)
      return
    }
    case '.txt':
    case '':
      yield nonEmpty(file, basename(name), readText(file))
      return
    default:
      throw new UsageError(`unknown file type: ${file}`, {
        fix: 'Use .jsonl, .md, .html or .txt files, optionally gzipped (.gz).',
      })
  }
}

async function* readJsonLines(file: string): AsyncGenerator<ReadItem> {
  const stream = createReadStream(file)
  const input = file.endsWith('.gz') ? stream.pipe(createGunzip()) : stream
  stream.on('error', (error) => input.destroy(error))
  let line = 0
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      line++
      if (text.trim() !== '') yield toDocument(text, file, line)
    }
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

/** Accepts common field names; the position in the file replaces a missing id. */
function toDocument(json: string, file: string, line: number): ReadItem {
  let row: unknown
  try {
    row = parseJson(json)
  } catch {
    return { problem: `${file}:${line} is not JSON` }
  }
  if (typeof row !== 'object' || row === null) return { problem: `${file}:${line} is not an object` }
  const fields = row as Record<string, unknown>
  const text = fields['text'] ?? fields['contents'] ?? fields['content'] ?? fields['body']
  if (typeof text !== 'string') return { problem: `${file}:${line} has no "text"` }
  const id = fields['id'] ?? `${file}:${line}`
  const title = fields['title'] ?? text.split('\n', 1)[0]!.slice(0, 80).toWellFormed()
  const url = fields['url']
  return {
    document: { id: String(id), title: String(title), text, ...(typeof url === 'string' ? { url } : {}) },
  }
}

function markdownDocument(file: string, text: string): ReadItem {
  const heading = /^#{1,6}[ \t]+(\S.*)$/m.exec(text)
  return nonEmpty(file, heading?.[1]?.trim() ?? basename(file), text)
}

function nonEmpty(file: string, title: string, text: string): ReadItem {
  return text.trim() === '' ? { problem: `${file} is empty` } : { document: { id: file, title, text } }
}

function readText(file: string): string {
  try {
    const bytes = readFileSync(file)
    return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

function unreadable(file: string, cause: unknown): UsageError {
  return new UsageError(`cannot read ${file}: ${(cause as Error).message}`, {
    cause,
    fix: 'Check that the file exists and is not corrupted.',
  })
}
