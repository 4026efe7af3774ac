import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import {
  type DriverName,
  type Language,
  openBubblewrap,
  openPyodide,
  openQuickjs,
  type RunOptions,
  type SandboxDriver,
  SandboxRequest,
  type SandboxResult,
} from '../../src/world/sandbox/index.ts'

export interface Subject {
  name: DriverName
  language: Language
  open(concurrency?: number): Promise<SandboxDriver>
}

const bubblewrap = (['python', 'javascript'] as const).map(
  (language): Subject => ({
    name: 'bubblewrap',
    language,
    open: (concurrency = 2) => openBubblewrap([language], { concurrency }),
  }),
)

/** Every driver with each of its languages; bubblewrap only where a program actually runs in it. */
export async function subjects(): Promise<Subject[]> {
  const found: Subject[] = [
    { name: 'pyodide', language: 'python', open: async (concurrency = 1) => openPyodide({ concurrency }) },
    {
      name: 'quickjs',
      language: 'javascript',
      open: async (concurrency = 1) => openQuickjs({ concurrency }),
    },
  ]
  for (const subject of bubblewrap) {
    try {
      await (await subject.open()).close()
      found.unshift(subject)
    } catch (error) {
      console.warn(
        `SKIPPED: bubblewrap with ${subject.language} is not tested here: ${(error as Error).message}`,
      )
    }
  }
  return found
}

/** Fills in defaults and runs. */
export function run(
  driver: SandboxDriver,
  request: SandboxRequest,
  options?: RunOptions,
): Promise<SandboxResult> {
  return driver.run(SandboxRequest.parse(request), options)
}

function status(pid: string): { parent: number; user: number; state: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8')
    const field = (name: string): string => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(text)?.[1] ?? ''
    return { parent: Number(field('PPid')), user: Number(field('Uid')), state: field('State') }
  } catch {
    return undefined
  }
}

/**
 * Processes left by sandboxes of this process: its own children, and whatever runs in another pid namespace under the
 * user of this process's sandboxes. Concurrent tests use a different user.
 */
export function leftBehind(): string[] {
  const own = readlinkSync('/proc/self/ns/pid')
  const user = process.getuid?.() === 0 ? 2_000_000_000 + (process.pid % 2 ** 20) : process.getuid?.()
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const found = status(pid)
      if (found === undefined || found.state === 'Z') return false
      if (found.parent === process.pid) return /bwrap|sandbox/.test(commandLine(pid))
      if (found.user !== user) return false
      try {
        return readlinkSync(`/proc/${pid}/ns/pid`) !== own
      } catch {
        return false
      }
    })
    .map((pid) => `${pid} ${commandLine(pid).slice(0, 100)}`)
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** Waits for the kernel to clean up killed processes; whatever still exists then was left behind. */
export async function leftAfterCleanup(): Promise<string[]> {
  if (process.platform !== 'linux') return []
  let left = leftBehind()
  for (let attempt = 0; attempt < 50 && left.length > 0; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    left = leftBehind()
  }
  return left
}
