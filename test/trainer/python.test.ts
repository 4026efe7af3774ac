import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { trainerPython } from '../engine/tinker/trainer-python.ts'

const folder = fileURLToPath(new URL('../../trainer', import.meta.url))
const python = await trainerPython()
const leftOut: string[] = []
const tools = python === undefined ? undefined : withTools(python)

/** What only tests need is put into the environment on first use. */
function withTools(found: string): string | undefined {
  const has = (modules: string) => spawnSync(found, ['-c', `import ${modules}`]).status === 0
  const install = (...packages: string[]) =>
    spawnSync(found, ['-m', 'pip', 'install', '--quiet', '--no-compile', ...packages]).status === 0
  const checkers = ['pytest>=8', 'mypy>=1.13', 'ruff>=0.8']
  // On a processor kernels run as Python, which Triton cannot do with the newest numpy.
  const triton = ['triton==3.6.0', 'numpy<2.4']
  // The public client of the protocol; its test is left out where it cannot be had.
  const client = ['tinker==0.36.0']
  // All at once is faster, one by one gets what can be had.
  if (!has('pytest, mypy, ruff, triton') && !install(...checkers, ...triton, ...client))
    for (const packages of [checkers, triton, client]) install(...packages)
  if (!has('triton')) {
    console.warn('SKIPPED: the kernels of the sampler: Triton could not be installed')
    leftOut.push('--ignore=tests/test_kernels.py')
  }
  if (has('pytest, mypy, ruff')) return found
  console.warn('SKIPPED: the tests of the trainer in Python: pytest, mypy and ruff could not be installed')
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

describe.skipIf(tools === undefined)('the trainer in Python', () => {
  it.each([
    ['its tests', ['pytest', '-q', '-p', 'no:cacheprovider', ...leftOut]],
    ['its types', ['mypy', '--cache-dir=/dev/null']],
    ['its style', ['ruff', 'check', '--no-cache']],
    ['its format', ['ruff', 'format', '--check', '--no-cache']],
  ])('%s', async (_name, args) => {
    const { code, output } = await run(...args)
    console.info(output.trim().split('\n').at(-1))
    expect(code, output).toBe(0)
  })
})
