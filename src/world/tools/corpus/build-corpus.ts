import { normalize, sep } from 'node:path'
import type { Observe } from '../../../base/progress/index.ts'
import { type TextDocument, TextIndex, VectorIndex } from '../../../store/index.ts'
import type { Embedder } from '../../models/index.ts'
import { findFiles } from './find-files.ts'
import { readDocuments } from './read-documents.ts'
import { Sources } from './sources.ts'

export interface BuildResult {
  files: number
  /** Documents read; the next three add up to it. */
  documents: number
  added: number
  changed: number
  unchanged: number
  /** Documents that were in a file when it was last read and no longer are. */
  removed: number
  /** Vectors computed in this build; undefined without an embedder. */
  embedded?: number
  /** Items that could not be read, and the first few reasons. */
  skipped: number
  problems: string[]
}

export interface BuildOptions {
  observe?: Observe
  signal?: AbortSignal
  /** Also computes vectors for documents whose current text has none. */
  embedder?: Embedder
}

/** A few large batches index faster than many small ones; while embedding, small batches lose less when interrupted. */
const BATCH = { plain: 100_000, embedded: 512 }
/** Per batch, so that long documents do not exhaust memory. */
const MAX_BATCH_CHARACTERS = 20_000_000
const REPORT_EVERY = 500
const SHOWN_PROBLEMS = 20

/** The vector index of a corpus: corpus.db has corpus.vectors.db. */
export function vectorFileOf(corpusFile: string): string {
  return `${corpusFile.replace(/\.db$/, '')}.vectors.db`
}

/**
 * Adds files and folders to a search index, batch by batch. If it is interrupted, what was added stays, and the next call adds the
 * rest. Documents added from other files earlier stay too.
 *
 * @example
 * import { buildCorpus } from 'chain-of-agents'
 *
 * const { documents, added, problems } = await buildCorpus('corpus.db', ['docs', 'manual.pdf'])
 * console.log(`${added} of ${documents} documents are new`, problems)
 */
export async function buildCorpus(
  indexFile: string,
  paths: readonly string[],
  options: BuildOptions = {},
): Promise<BuildResult> {
  const files = findFiles(paths)
  const { embedder } = options
  using index = new TextIndex(indexFile)
  using vectors =
    embedder === undefined ? null : new VectorIndex(vectorFileOf(indexFile), { model: embedder.name })
  const sources = new Sources(indexFile)
  const seen = new Set<string>()
  const result: BuildResult = {
    files: files.length,
    documents: 0,
    added: 0,
    changed: 0,
    unchanged: 0,
    removed: 0,
    ...(embedder === undefined ? {} : { embedded: 0 }),
    skipped: 0,
    problems: [],
  }
  const note = (problem: string): void => {
    result.skipped++
    if (result.problems.length < SHOWN_PROBLEMS) result.problems.push(problem)
  }
  const flush = async (batch: readonly TextDocument[]): Promise<void> => {
    options.signal?.throwIfAborted()
    const { added, replaced, unchanged } = index.add(batch)
    result.documents += batch.length
    result.added += added
    result.changed += replaced
    result.unchanged += unchanged
    if (embedder !== undefined && vectors !== null)
      result.embedded! += await embedMissing(vectors, embedder, batch, options.signal)
    report(0)
  }
  const report = (pending: number): void =>
    options.observe?.({ stage: 'corpus', done: result.documents + pending, unit: 'documents' })
  const most = vectors === null ? BATCH.plain : BATCH.embedded
  const lost: string[] = []
  // A batch may span files, so that a folder of small files takes a few insertions, not thousands.
  let batch: TextDocument[] = []
  let characters = 0
  for (const file of files) {
    const ids = new Set<string>()
    for await (const item of readDocuments(file)) {
      if ('problem' in item) note(item.problem)
      else if (seen.has(item.document.id)) note(`${file} has a duplicate document id "${item.document.id}"`)
      else {
        seen.add(item.document.id)
        ids.add(item.document.id)
        batch.push(item.document)
        characters += item.document.text.length
      }
      if (batch.length % REPORT_EVERY === 0) report(batch.length)
      if (batch.length < most && characters < MAX_BATCH_CHARACTERS) continue
      await flush(batch)
      batch = []
      characters = 0
    }
    lost.push(...sources.replace(file, ids))
  }
  await flush(batch)
  for (const source of deletedSources(sources.names(), paths, files))
    lost.push(...sources.replace(source, new Set()))
  // Only at the end: a document may have moved from one file to another.
  const gone = lost.filter((id) => !seen.has(id))
  result.removed = index.remove(gone)
  vectors?.remove(gone)
  sources.save()
  return result
}

async function embedMissing(
  vectors: VectorIndex,
  embedder: Embedder,
  documents: readonly TextDocument[],
  signal?: AbortSignal,
): Promise<number> {
  const texts = documents.map(({ id, title, text }) => ({ id, text: `${title}\n${text}` }))
  const missing = vectors.missing(texts)
  if (missing.length === 0) return 0
  const made = await embedder.embed(
    missing.map(({ text }) => text),
    signal,
  )
  vectors.add(missing.map((entry, row) => ({ ...entry, vector: made[row]! })))
  return missing.length
}

/** Known sources inside the given folders that no longer exist. */
function deletedSources(
  known: readonly string[],
  paths: readonly string[],
  files: readonly string[],
): string[] {
  const present = new Set(files)
  const folders = paths.map((path) => normalize(path)).filter((path) => !present.has(path))
  return known.filter(
    (source) =>
      !present.has(source) &&
      folders.some(
        (folder) => folder === '.' || source.startsWith(folder.endsWith(sep) ? folder : folder + sep),
      ),
  )
}
