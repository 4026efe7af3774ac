const pythonMessage = /(?:^|\n)MemoryError(?::[^\n]*)?\n*$/
const javascriptMessage =
  /heap out of memory|Failed to allocate memory|Array buffer allocation failed|InternalError: out of memory/

/** Whether a failed program ended with its interpreter's out-of-memory error. */
export function ranOutOfMemory(exit: number | null, stderr: string): boolean {
  return exit !== 0 && (pythonMessage.test(stderr) || javascriptMessage.test(stderr))
}
