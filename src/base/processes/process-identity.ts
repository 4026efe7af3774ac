import { readFileSync } from 'node:fs'

/**
 * Whether a process with this number runs on this machine; one that belongs to somebody else does too. One that has
 * ended keeps its number until its parent asks how; without an init process, as in many containers, that is for ever.
 */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const [state] = processFields(pid) ?? []
  return state !== 'Z' && state !== 'X'
}

/**
 * Tells two processes with the same number apart: the boot of the machine and the clock tick at which the
 * process began. Undefined where /proc does not exist; there only the number can be compared.
 */
export function processStart(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const startTime = processFields(pid)?.[19]
    return startTime === undefined ? undefined : `${boot}:${startTime}`
  } catch {
    return undefined
  }
}

/** What the kernel says about a process, from its state on; undefined where it cannot be asked. */
function processFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in parentheses and may itself contain spaces and parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
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
