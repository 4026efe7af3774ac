/** Waits for Ctrl-C or SIGTERM. The first one only: a second one ends the process, as usual. */
export async function stopSignal(): Promise<void> {
  await new Promise<void>((stopped) => {
    const stop = (): void => {
      process.off('SIGINT', stop)
      process.off('SIGTERM', stop)
      stopped()
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}
