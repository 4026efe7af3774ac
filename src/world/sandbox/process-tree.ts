import { readdirSync, readFileSync } from 'node:fs'

export interface TreeUsage {
  processes: number
  memoryBytes: number
  cpuMs: number
  /** A thread of it is running, or would if it got a processor. */
  isAwake: boolean
}

/** The kernel's clock tick as /proc shows it: 100 a second on every Linux that Node runs on. */
const tickMs = 10

/**
 * What a process and all below it use now, from /proc; undefined where that cannot be read (no Linux, or gone).
 * Pages shared after a fork count for each process, so the sum errs on the strict side.
 */
export function treeUsage(root: number): TreeUsage | undefined {
  const usage: TreeUsage = { processes: 0, memoryBytes: 0, cpuMs: 0, isAwake: false }
  const pending = [root]
  while (pending.length > 0) {
    const pid = pending.pop()!
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      for (const [, kilobytes] of status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)) {
        usage.memoryBytes += Number(kilobytes) * 1024
      }
      const fields = statFields(`/proc/${pid}/stat`)
      // utime, stime, and those of children that were waited for
      for (const field of [11, 12, 13, 14]) usage.cpuMs += Number(fields[field]) * tickMs
      usage.processes++
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        // Running, or waiting for a disk.
        if (!usage.isAwake) usage.isAwake = /[RD]/.test(statFields(`/proc/${pid}/task/${thread}/stat`)[0]!)
        const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
        pending.push(...children.split(' ').filter(Boolean).map(Number))
      }
    } catch {
      // Ended between two reads.
    }
  }
  return usage.processes === 0 ? undefined : usage
}

/** The name in brackets may hold anything, so fields are counted from its end. The first is the state. */
function statFields(path: string): string[] {
  const stat = readFileSync(path, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Looks at a tree every 100 ms until `stop`; short programs never pay for it. */
export function watchTree(root: number, look: (usage: TreeUsage) => void): { stop(): void } {
  const timer = setInterval(() => {
    const usage = treeUsage(root)
    if (usage !== undefined) look(usage)
  }, 100)
  return { stop: () => clearInterval(timer) }
}
