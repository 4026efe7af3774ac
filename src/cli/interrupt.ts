/** Thrown out of work that was stopped by Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/**
 * Runs work that Ctrl-C can stop between two steps, so that what it holds is left in order. A second Ctrl-C ends the
 * process at once; the run folder survives that too.
 */
export async function interruptible<T>(
  work: (signal: AbortSignal) => Promise<T>,
  notice = '\nstopping after this step; Ctrl-C again ends at once\n',
): Promise<T> {
  const controller = new AbortController()
  const stop = (): void => {
    process.stderr.write(notice)
    controller.abort(new Interrupted('stopped by Ctrl-C'))
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    return await work(controller.signal)
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}
