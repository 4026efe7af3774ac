import { existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sha256OfFile } from '../../../base/digests/index.ts'
import { type DownloadOptions, download, PartFile } from '../../../base/downloads/index.ts'
import { nearestName, ToolError, UsageError } from '../../../base/errors/index.ts'
import type { Observe } from '../../../base/progress/index.ts'
import { type Benchmark, type BenchmarkFile, benchmarks } from '../index.ts'
import { type PulledFile, readPullLock, writePullLock } from './lock-file.ts'
import { responseError } from './response-errors.ts'

export interface PullOptions
  extends Pick<DownloadOptions, 'fetch' | 'attempts' | 'backOffMs' | 'stallMs' | 'signal'> {
  /** The parent folder; files go into a subfolder named after the benchmark. */
  folder: string
  /** Called before anything is downloaded; returns whether the user accepts the license. */
  accept: (benchmark: Benchmark) => boolean | Promise<boolean>
  /** Hugging Face Hub token. Sent only for gated benchmarks. */
  token?: string | undefined
  /** Names of the files to pull; by default all. */
  files?: readonly string[] | undefined
  onProgress?: Observe | undefined
}

export interface PulledBenchmark {
  benchmark: Benchmark
  files: {
    path: string
    split: BenchmarkFile['split']
    sha256: string
    bytes: number
    /** `first-use`: there was no known checksum, so this download is trusted from now on. */
    trust: PulledFile['trust']
    /** False if the file already existed and is unchanged. */
    isNew: boolean
  }[]
}

/**
 * Downloads a benchmark from its publisher, or verifies what an earlier download left.
 *
 * @example
 * import { pullBenchmark } from 'chain-of-agents'
 *
 * const { files } = await pullBenchmark('gsm8k', {
 *   folder: 'data',
 *   accept: ({ title, licence }) => (console.log(title, licence), true),
 * })
 * console.log(files.map(({ path }) => path))
 */
export async function pullBenchmark(
  which: string | Benchmark,
  options: PullOptions,
): Promise<PulledBenchmark> {
  const benchmark = typeof which === 'string' ? findBenchmark(which) : which
  const wanted = filesOf(benchmark, options.files)
  if (!(await options.accept(benchmark))) {
    throw new UsageError(`the license of ${benchmark.title} was not accepted: ${benchmark.licence}`, {
      fix: `Read it at ${benchmark.homepage}, then pull again and accept it.`,
    })
  }
  const folder = join(options.folder, benchmark.name)
  mkdirSync(folder, { recursive: true })
  const files: PulledBenchmark['files'] = []
  for (const file of wanted) files.push(await pullFile(benchmark, file, folder, options))
  return { benchmark, files }
}

async function pullFile(
  benchmark: Benchmark,
  file: BenchmarkFile,
  folder: string,
  options: PullOptions,
): Promise<PulledBenchmark['files'][number]> {
  const path = join(folder, file.name)
  const earlier = readPullLock(folder).files[file.name]
  const expected = file.sha256 ?? (earlier?.url === file.url ? earlier.sha256 : undefined)
  const trust = file.sha256 === undefined ? 'first-use' : 'known'
  const exists = existsSync(path)
  const part = new PartFile(path)
  if (!exists) {
    const { fetch, attempts, backOffMs, stallMs, signal, onProgress } = options
    const token = benchmark.isGated === true ? options.token : undefined
    await download(file.url, part, {
      refused: (response) => responseError(file.url, response, benchmark.homepage, token !== undefined),
      fetch,
      attempts,
      backOffMs,
      stallMs,
      signal,
      token,
      onBytes: (done, total) => onProgress?.({ stage: `pull ${file.name}`, done, total, unit: 'bytes' }),
    })
  }
  const sha256 = sha256OfFile(exists ? path : part.path)
  if (expected !== undefined && sha256 !== expected) {
    // A corrupt download must be neither resumed nor moved into place.
    if (!exists) part.remove()
    throw mismatch(path, file, expected, sha256, exists)
  }
  if (!exists) part.moveTo(path)
  const bytes = statSync(path).size
  if (earlier?.sha256 !== sha256 || earlier.url !== file.url) {
    const lock = readPullLock(folder)
    lock.files[file.name] = { url: file.url, sha256, bytes, pulledAt: new Date().toISOString(), trust }
    writePullLock(folder, lock)
  }
  return { path, split: file.split, sha256, bytes, trust, isNew: !exists }
}

function mismatch(
  path: string,
  { url, sha256 }: BenchmarkFile,
  expected: string,
  found: string,
  exists: boolean,
): UsageError | ToolError {
  const details = { path, url, expected, found }
  if (exists) {
    return new UsageError(
      `${path} was modified after it was pulled: its checksum is ${found}, not ${expected}`,
      {
        fix: 'Move the file elsewhere and pull again.',
        details,
      },
    )
  }
  const known = sha256 === undefined ? 'of the first pull' : 'built into coa'
  return new ToolError(`the file at ${url} has the checksum ${found}, not the one ${known}, ${expected}`, {
    fix:
      sha256 === undefined
        ? 'The publisher may have changed it. If so, remove its entry from pulled.json and pull again.'
        : 'Pull again; if the checksum is still wrong, do not use the file.',
    details,
  })
}

function findBenchmark(name: string): Benchmark {
  const benchmark = benchmarks.find((candidate) => candidate.name === name)
  if (benchmark !== undefined) return benchmark
  const names = benchmarks.map((candidate) => candidate.name)
  const near = nearestName(name, names)
  throw new UsageError(`there is no benchmark ${JSON.stringify(name)}`, {
    fix: near === undefined ? `The benchmarks are ${names.join(', ')}.` : `Did you mean ${near}?`,
  })
}

function filesOf(
  { title, files }: Benchmark,
  names: readonly string[] | undefined,
): readonly BenchmarkFile[] {
  const missing = names?.find((name) => !files.some((file) => file.name === name))
  if (missing !== undefined) {
    throw new UsageError(`${title} has no file ${JSON.stringify(missing)}`, {
      fix: `Its files are ${files.map(({ name }) => name).join(', ')}.`,
    })
  }
  return names === undefined ? files : files.filter(({ name }) => names.includes(name))
}
