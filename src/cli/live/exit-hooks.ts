const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Calls `cleanUp` before the process exits for any reason except SIGKILL. A signal that has another handler is left to
 * that handler; otherwise the signal still kills the process. Returns a function that removes the hook.
 */
export function onExit(cleanUp: () => void): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    // This handler runs first, so that `once` handlers are still registered.
    if (process.listenerCount(signal) > 1) return
    cleanUp()
    remove()
    process.kill(process.pid, signal)
  }
  const remove = (): void => {
    process.off('exit', cleanUp)
    for (const signal of signals) process.off(signal, onSignal)
  }
  process.on('exit', cleanUp)
  for (const signal of signals) process.prependListener(signal, onSignal)
  return remove
}

/** Calls `suspend` before Ctrl-Z suspends the process and `resume` when it continues. */
export function onSuspend(suspend: () => void, resume: () => void): () => void {
  const stop = (): void => {
    suspend()
    // SIGTSTP is handled here, so the process must be suspended with the signal that cannot be caught.
    process.kill(process.pid, 'SIGSTOP')
  }
  process.on('SIGTSTP', stop)
  process.on('SIGCONT', resume)
  return () => {
    process.off('SIGTSTP', stop)
    process.off('SIGCONT', resume)
  }
}
