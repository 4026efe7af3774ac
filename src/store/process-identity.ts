import { readFileSync } from 'node:fs'

/** Whether a process with this number runs on this machine; one that belongs to somebody else does too. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Tells two processes with the same number apart: the boot of the machine and the clock tick at which the
 * process began. Undefined where /proc does not exist; there only the number can be compared.
 */
export function processStart(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in parentheses and may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const startTime = fields[19]
    return startTime === undefined ? undefined : `${boot}:${startTime}`
  } catch {
    return undefined
  }
}

/** Whether the process that wrote down this number and start is still running here. */
export function processRuns(pid: number, start: string | undefined): boolean {
  if (!processExists(pid)) return false
  const current = processStart(pid)
  return start === undefined || current === undefined || start === current
}
