import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cache = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url))
const venv = join(cache, 'coa-reference-python')
/** The version for which a wheel without CUDA is known to lie about; the fixtures were made with both. */
const packages = ['torch==2.13.0', 'transformers==5.22.2', 'safetensors']
const check = 'import torch, transformers, safetensors; print(torch.__version__, transformers.__version__)'

export type ReferencePython = { python: string; versions: string } | { missing: string }

let found: ReferencePython | undefined

/**
 * A Python with torch and transformers, for the tests that compare with them live; a reason where there is none.
 * COA_TEST_PYTHON names one; otherwise the environment made for this is used, or the one of test/export where it has
 * torch. With COA_TEST_PYTHON_PACKAGES=1 a missing one is made, as in test/export.
 */
export function referencePython(): ReferencePython {
  found ??= find()
  return found
}

function find(): ReferencePython {
  const named = process.env['COA_TEST_PYTHON']
  if (named !== undefined && named !== '') return probe(named)
  for (const folder of [venv, join(cache, 'coa-export-python')]) {
    if (!existsSync(join(folder, 'ready'))) continue
    const probed = probe(join(folder, 'bin', 'python'))
    if ('python' in probed) return probed
  }
  if (process.env['COA_TEST_PYTHON_PACKAGES'] === '1') return makeReferencePython()
  return {
    missing:
      'no Python with torch and transformers; set COA_TEST_PYTHON, or COA_TEST_PYTHON_PACKAGES=1 to make one',
  }
}

/** Makes the environment, telling how far it is: it takes two minutes and 1.2 GB. */
export function makeReferencePython(say: (line: string) => void = console.info): ReferencePython {
  rmSync(venv, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  const python = join(venv, 'bin', 'python')
  const steps: Array<[string, string, string[]]> = [
    [`making ${venv}`, 'python3', ['-m', 'venv', venv]],
    ...packages.map((name): [string, string, string[]] => [
      `installing ${name}`,
      python,
      ['-m', 'pip', '--disable-pip-version-check', 'install', '--quiet', name],
    ]),
  ]
  for (const [title, command, args] of steps) {
    say(title)
    const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
    if (status !== 0) return { missing: `${title} failed: ${error?.message ?? stderr.slice(-500)}` }
  }
  // Written when everything is in, so that half an environment is not taken for a whole one.
  writeFileSync(join(venv, 'ready'), '')
  return probe(python)
}

function probe(python: string): ReferencePython {
  const { status, stdout, stderr, error } = spawnSync(python, ['-c', check], { encoding: 'utf8' })
  if (status === 0) return { python, versions: stdout.trim() }
  return {
    missing: `${python} has no torch or transformers: ${error?.message ?? stderr.trim().split('\n').at(-1)}`,
  }
}
