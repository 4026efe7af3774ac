import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { trainerPython } from '../engine/tinker/trainer-python.ts'

const folder = fileURLToPath(new URL('../../trainer', import.meta.url))
const python = await trainerPython()
const ignored: string[] = []
const tools = python === undefined ? undefined : withTools(python)

/** Installs test-only packages into the environment on first use. */
function withTools(found: string): string | undefined {
  const has = (modules: string) => spawnSync(found, ['-c', `import ${modules}`]).status === 0
  const install = (...packages: string[]) =>
    spawnSync(found, ['-m', 'pip', 'install', '--quiet', '--no-compile', ...packages]).status === 0
  const checkers = ['pytest>=8', 'mypy>=1.13', 'ruff>=0.8']
  // Without a GPU the kernels run in Triton's interpreter, which does not support the newest numpy.
  const triton = ['triton==3.6.0', 'numpy<2.4']
  // The public client of the protocol; its test is skipped if it cannot be installed.
  const client = ['tinker==0.36.0']
  // Installing everything at once is faster; one by one gets as much as possible.
  if (!has('pytest, mypy, ruff, triton') && !install(...checkers, ...triton, ...client))
    for (const packages of [checkers, triton, client]) install(...packages)
  if (!has('triton')) {
    console.warn('SKIPPED: sampler kernels: Triton could not be installed')
    ignored.push('--ignore=tests/test_kernels.py')
  }
  if (has('pytest, mypy, ruff')) return found
  console.warn("SKIPPED: the trainer's Python tests: pytest, mypy and ruff could not be installed")
  return undefined
}

function run(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(tools!, ['-m', ...args], { cwd: folder })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part) => {
      output += part
    })
  }
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })))
}

describe.skipIf(tools === undefined)("the trainer's Python code", () => {
  it.each([
    ['passes its tests', ['pytest', '-q', '-p', 'no:cacheprovider', ...ignored]],
    ['type-checks', ['mypy', '--cache-dir=/dev/null']],
    ['passes the linter', ['ruff', 'check', '--no-cache']],
    ['is formatted', ['ruff', 'format', '--check', '--no-cache']],
    // On a busy machine the tests take many times as long as on an idle one.
  ])('%s', { timeout: 3_600_000 }, async (_name, args) => {
    const { code, output } = await run(...args)
    console.info(output.trim().split('\n').at(-1))
    expect(code, output).toBe(0)
  })
})
