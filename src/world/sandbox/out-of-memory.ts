const pythonSays = /(?:^|\n)MemoryError(?::[^\n]*)?\n*$/
const javascriptSays =
  /heap out of memory|Failed to allocate memory|Array buffer allocation failed|InternalError: out of memory/

/** Whether a failed program's last words are those of its interpreter running out of memory. */
export function diedOfMemory(exit: number | null, stderr: string): boolean {
  return exit !== 0 && (pythonSays.test(stderr) || javascriptSays.test(stderr))
}
