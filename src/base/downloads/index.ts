/** Downloads that survive broken connections and killed processes. */
export { type DownloadOptions, download } from './download.ts'
export { PartFile } from './part-file.ts'
