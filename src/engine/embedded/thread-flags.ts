/** This program's own flags for a thread of it, without the one that a thread with a file cannot start with. */
export function threadFlags(): string[] {
  return process.execArgv.filter((flag) => !flag.startsWith('--input-type'))
}
