import type { Gold } from '../../../schema/index.ts'
import type { Split } from '../../splits.ts'
import type { Format } from '../format.ts'

/** A file of a benchmark at its public home. */
export interface BenchmarkFile {
  /** Its name on disk. */
  name: string
  url: string
  /** Left out where each row says. */
  split?: Split
  /** Known where the address names one fixed version, whose bytes were seen. Otherwise the first pull fixes it. */
  sha256?: string
}

export interface Benchmark {
  name: string
  title: string
  /** The grammar its tasks are meant to be solved in. */
  domain: 'web' | 'multihop' | 'code' | 'math' | 'all-tools'
  checker: Gold['checker']
  /** Shown before anything is downloaded. */
  licence: string
  homepage: string
  format: Format
  files: readonly BenchmarkFile[]
  /** Its home wants a user's consent on the web site, and a token. */
  isGated?: boolean
}

export const hub = (dataset: string, path: string): string =>
  `https://huggingface.co/datasets/${dataset}/resolve/main/${path}`
export const gitHub = (repository: string, commit: string, path: string): string =>
  `https://raw.githubusercontent.com/${repository}/${commit}/${path}`
