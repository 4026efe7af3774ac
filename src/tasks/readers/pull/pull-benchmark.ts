import { existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sha256OfFile } from '../../../base/digests/index.ts'
import { nearestName, ToolError, UsageError } from '../../../base/errors/index.ts'
import type { Observe } from '../../../base/progress/index.ts'
import { type Benchmark, type BenchmarkFile, benchmarks } from '../index.ts'
import { type DownloadOptions, download } from './download.ts'
import { type PulledFile, readPullLock, writePullLock } from './lock-file.ts'
import { PartFile } from './part-file.ts'

export interface PullOptions
  extends Pick<DownloadOptions, 'fetch' | 'attempts' | 'backOffMs' | 'stallMs' | 'signal'> {
  /** Files come into a folder of the benchmark's name below it. */
  folder: string
  /** Is shown the licence before anything is downloaded, and says whether it is agreed to. */
  accept: (benchmark: Benchmark) => boolean | Promise<boolean>
  /** Of the Hugging Face Hub. Sent only for benchmarks that ask for it. */
  token?: string | undefined
  /** Names of the files wanted; all without it. */
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
    /** `first-use`: nobody could say what the checksum should be, so what came is taken for right from now on. */
    trust: PulledFile['trust']
    /** False where the file was there already, and still is what was pulled. */
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
  /** A name, or a benchmark of the caller's own. */
  which: string | Benchmark,
  options: PullOptions,
): Promise<PulledBenchmark> {
  const benchmark = typeof which === 'string' ? findBenchmark(which) : which
  const wanted = filesOf(benchmark, options.files)
  if (!(await options.accept(benchmark))) {
    throw new UsageError(`the licence of ${benchmark.title} was not accepted: ${benchmark.licence}`, {
      fix: `Read it at ${benchmark.homepage}, and pull again with consent.`,
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
  const isThere = existsSync(path)
  const part = new PartFile(path)
  if (!isThere) {
    const { fetch, attempts, backOffMs, stallMs, signal, onProgress } = options
    await download(file.url, part, {
      homepage: benchmark.homepage,
      fetch,
      attempts,
      backOffMs,
      stallMs,
      signal,
      token: benchmark.isGated === true ? options.token : undefined,
      onBytes: (done, total) => onProgress?.({ stage: `pull ${file.name}`, done, total, unit: 'bytes' }),
    })
  }
  const sha256 = sha256OfFile(isThere ? path : part.path)
  if (expected !== undefined && sha256 !== expected) {
    // Wrong bytes must not be gone on with, nor be found under the file's name.
    if (!isThere) part.remove()
    throw mismatch(path, file, expected, sha256, isThere)
  }
  if (!isThere) part.moveTo(path)
  const bytes = statSync(path).size
  if (earlier?.sha256 !== sha256 || earlier.url !== file.url) {
    const lock = readPullLock(folder)
    lock.files[file.name] = { url: file.url, sha256, bytes, pulledAt: new Date().toISOString(), trust }
    writePullLock(folder, lock)
  }
  return { path, split: file.split, sha256, bytes, trust, isNew: !isThere }
}

function mismatch(
  path: string,
  { url, sha256 }: BenchmarkFile,
  expected: string,
  found: string,
  isThere: boolean,
): UsageError | ToolError {
  const details = { path, url, expected, found }
  if (isThere) {
    return new UsageError(`${path} is not what was pulled: its checksum is ${found}, not ${expected}`, {
      fix: 'Move the file away and pull again.',
      details,
    })
  }
  const whose = sha256 === undefined ? 'of the first pull' : 'that is known'
  return new ToolError(`${url} gave a file with the checksum ${found}, not the one ${whose}, ${expected}`, {
    fix:
      sha256 === undefined
        ? 'Its publisher may have changed it: if that is so, remove its entry from pulled.json and pull again.'
        : 'Pull again; if it stays so, do not use the file.',
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
