import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'vitest'

/** A test program as a separate process that can be killed. */
export function startProgram(program: string, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Waits for it to exit successfully. */
export async function expectSuccess(child: ChildProcess): Promise<void> {
  child.stdout!.resume()
  const [code] = await once(child, 'close')
  expect(code).toBe(0)
}
