import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'vitest'

/** A program of the tests as a process of its own, which may be killed. */
export function startProgram(program: string, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Lets it come to its end, which has to be a good one. */
export async function goodEnd(child: ChildProcess): Promise<void> {
  child.stdout!.resume()
  const [code] = await once(child, 'close')
  expect(code).toBe(0)
}
