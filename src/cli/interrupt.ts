import { Interrupted } from '../base/errors/index.ts'

/**
 * Runs work that Ctrl-C stops between two steps, so that it can clean up. A second Ctrl-C kills the process; the run
 * folder survives that, too.
 */
export async function interruptible<T>(
  work: (signal: AbortSignal) => Promise<T>,
  notice = '\nstopping after this step; press Ctrl-C again to quit now\n',
): Promise<T> {
  const controller = new AbortController()
  const stop = (): void => {
    process.stderr.write(notice)
    controller.abort(new Interrupted('interrupted by Ctrl-C'))
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
