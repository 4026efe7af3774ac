/** Node flags for worker threads: this process's own, without those a worker with a file cannot start with. */
export function threadFlags(): string[] {
  return process.execArgv.filter((flag) => !flag.startsWith('--input-type'))
}
