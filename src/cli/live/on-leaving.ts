const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Calls `leave` before the process ends, however it ends, but for SIGKILL. A signal that someone else handles is theirs;
 * one that nobody handles ends the process as it would have without us. Undone by calling what it returns.
 */
export function onLeaving(leave: () => void): () => void {
  const ending = (signal: NodeJS.Signals): void => {
    // Asked first, so those who handle a signal once have not been taken off the list yet.
    if (process.listenerCount(signal) > 1) return
    leave()
    undo()
    process.kill(process.pid, signal)
  }
  const undo = (): void => {
    process.off('exit', leave)
    for (const signal of endings) process.off(signal, ending)
  }
  process.on('exit', leave)
  for (const signal of endings) process.prependListener(signal, ending)
  return undo
}

/** Calls `pause` before Ctrl-Z stops the process and `goOn` when it is taken up again. */
export function onPause(pause: () => void, goOn: () => void): () => void {
  const stop = (): void => {
    pause()
    // The signal itself is ours now, so it has to be the one that cannot be caught.
    process.kill(process.pid, 'SIGSTOP')
  }
  process.on('SIGTSTP', stop)
  process.on('SIGCONT', goOn)
  return () => {
    process.off('SIGTSTP', stop)
    process.off('SIGCONT', goOn)
  }
}
