import type { DriverName, SandboxResult } from '../../src/world/sandbox/index.ts'

/** Things on the host that no program may access. */
export interface Bait {
  /** The content of a file, an environment variable and an earlier run's data. */
  secret: string
  /** A file with the secret, readable by everyone. */
  file: string
  /** A world-writable folder. */
  folder: string
  /** Port of a server that counts its visitors. */
  port: number
}

export interface HostileCase {
  name: string
  /** A program that prints LEAK and what it got if it succeeds. */
  code(bait: Bait): string
  /** By default all drivers that run the language. */
  drivers?: DriverName[]
  limits?: { wallMs?: number; cpuMs?: number; memoryMb?: number; processes?: number; fileBytes?: number }
  /** What must hold for the result, besides that nothing leaked. */
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
