import type { Split } from '../../../schema/index.ts'
import type { Format } from '../format.ts'

/** A file of a benchmark at its public source. */
export interface BenchmarkFile {
  /** Its name on disk. */
  name: string
  url: string
  /** Omitted if each row has its own. */
  split?: Split
  /** For URLs of a fixed version. Otherwise the first pull records the checksum. */
  sha256?: string
}

export interface Benchmark {
  name: string
  title: string
  /** The grammar its tasks are meant to be solved in. */
  domain: 'web' | 'multihop' | 'code' | 'math' | 'all-tools'
  checker: 'exact' | 'math' | 'code' | 'judge'
  /** Shown before anything is downloaded. */
  licence: string
  homepage: string
  format: Format
  files: readonly BenchmarkFile[]
  /** Users have to accept terms on the website and need a token. */
  isGated?: boolean
}

export const hub = (dataset: string, path: string): string =>
  `https://huggingface.co/datasets/${dataset}/resolve/main/${path}`
export const gitHub = (repository: string, commit: string, path: string): string =>
  `https://raw.githubusercontent.com/${repository}/${commit}/${path}`
