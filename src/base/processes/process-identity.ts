import { readFileSync } from 'node:fs'

/**
 * Whether a process with this id runs on this machine, under any user. A process that has ended keeps its id as a
 * zombie until its parent reaps it; without an init process, as in many containers, that is forever.
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
 * Distinguishes processes with the same id: the boot id of the machine and the clock tick at which the process
 * started. Undefined without /proc, where only the id can be compared.
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

/** The kernel's stat fields of a process, from its state on; undefined if they cannot be read. */
function processFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in parentheses and may itself contain spaces and parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

/** Whether the process with this id and start time is still running. */
export function processRuns(pid: number, start: string | undefined): boolean {
  if (!processExists(pid)) return false
  const current = processStart(pid)
  return start === undefined || current === undefined || start === current
}
