import type { CheckpointManifest } from '../checkpoint/index.ts'
import type { ImportReport } from '../model/import-gguf.ts'
import type { FetchedFile } from './fetch-file.ts'

export interface PulledModel {
  folder: string
  manifest: CheckpointManifest
  /** Id on the Hub, URL or path. */
  source: string
  revision?: string
  license?: string
  /** What was downloaded; empty if the folder already existed. */
  files: FetchedFile[]
  isNew: boolean
  /** For GGUF files. */
  imported?: Pick<ImportReport, 'types' | 'tied'>
}
