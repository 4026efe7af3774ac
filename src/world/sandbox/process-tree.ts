import { readdirSync, readFileSync } from 'node:fs'

export interface TreeUsage {
  processes: number
  memoryBytes: number
  cpuMs: number
  /** Whether any of its threads is running or waiting for a CPU. */
  isAwake: boolean
}

/** The kernel's clock tick in /proc: 100 per second on every Linux that Node supports. */
const tickMs = 10

/**
 * Current usage of a process and its descendants, from /proc; undefined if that cannot be read (not Linux, or ended).
 * Pages shared after a fork are counted for each process, so the sum is an upper bound.
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
      // utime, stime, and those of reaped children
      for (const field of [11, 12, 13, 14]) usage.cpuMs += Number(fields[field]) * tickMs
      usage.processes++
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        // Running, or waiting for I/O.
        if (!usage.isAwake) usage.isAwake = /[RD]/.test(statFields(`/proc/${pid}/task/${thread}/stat`)[0]!)
        const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
        pending.push(...children.split(' ').filter(Boolean).map(Number))
      }
    } catch {
      // The process ended between two reads.
    }
  }
  return usage.processes === 0 ? undefined : usage
}

/** The name in parentheses may contain anything, so fields are counted from its end. The first is the state. */
function statFields(path: string): string[] {
  const stat = readFileSync(path, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Samples a process tree every 100 ms until `stop`; short programs never pay for it. */
export function watchTree(root: number, onSample: (usage: TreeUsage) => void): { stop(): void } {
  const timer = setInterval(() => {
    const usage = treeUsage(root)
    if (usage !== undefined) onSample(usage)
  }, 100)
  return { stop: () => clearInterval(timer) }
}
