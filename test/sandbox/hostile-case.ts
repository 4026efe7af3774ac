import type { DriverName, SandboxResult } from '../../src/world/sandbox/index.ts'

/** What the host has that no program may get at. */
export interface Bait {
  /** The text of a file, of an environment variable and of an earlier run's data. */
  secret: string
  /** A file with the secret, readable by everyone. */
  file: string
  /** A folder that everyone may write to. */
  folder: string
  /** Where a server listens; it counts its visitors. */
  port: number
}

export interface HostileCase {
  name: string
  /** A program that prints LEAK and what it got, when it gets through. */
  code(bait: Bait): string
  /** All that run the language, unless named. */
  drivers?: DriverName[]
  limits?: { wallMs?: number; cpuMs?: number; memoryMb?: number; processes?: number; fileBytes?: number }
  /** What must be true of the result, beside that nothing leaked. */
  expect?(result: SandboxResult): boolean
}

export const timedOut = (result: SandboxResult): boolean =>
  result.timedOut && result.exit === null && result.signal === 'SIGKILL'
export const outOfMemory = (result: SandboxResult): boolean =>
  result.outOfMemory === true && result.exit !== 0
export const flooded = (result: SandboxResult): boolean =>
  result.truncated && result.exit === null && result.signal === 'SIGKILL' && !result.timedOut
export const crashed = (result: SandboxResult): boolean => result.exit === null && result.signal !== undefined
export const failed = (result: SandboxResult): boolean => result.exit !== 0
export const survived = (result: SandboxResult): boolean => result.exit === 0 && /done/.test(result.stdout)
