import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const venv = fileURLToPath(new URL('../../node_modules/.cache/coa-export-python', import.meta.url))
const python = join(venv, 'bin', 'python')
/** Written when the installation is complete, so that a partial environment is not used. */
const ready = join(venv, 'ready')

const basic = ['transformers', 'datasets', 'tokenizers', 'jinja2', 'pyarrow', 'pandas']
/** The trainer needs torch; a version with a CPU-only wheel. */
const training = ['torch==2.13.0', 'trl']

/**
 * The Python of an environment with the trainers' own libraries; undefined, with the reason, where there is none. It is
 * made only when COA_TEST_PYTHON_PACKAGES=1 asks for it: that takes minutes, and hundreds of megabytes.
 */
export function pythonWithPackages(): { python: string } | { missing: string } {
  if (existsSync(ready)) return { python }
  if (process.env['COA_TEST_PYTHON_PACKAGES'] !== '1')
    return { missing: 'no environment with the Python libraries; set COA_TEST_PYTHON_PACKAGES=1 to make one' }
  mkdirSync(join(venv, '..'), { recursive: true })
  const made = spawnSync('python3', ['-m', 'venv', venv], { encoding: 'utf8' })
  if (made.status !== 0) return { missing: `python3 -m venv failed: ${made.error?.message ?? made.stderr}` }
  const installed = pip(['install', '--quiet', ...basic])
  if (installed.status !== 0) return { missing: `pip install failed: ${installed.stderr.slice(-500)}` }
  if (!bringsCuda()) pip(['install', '--quiet', ...training])
  writeFileSync(ready, '')
  return { python }
}

function bringsCuda(): boolean {
  const { status, stdout } = pip(['install', '--quiet', '--dry-run', '--report', '-', ...training])
  if (status !== 0) return true
  const { install } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
    install: Array<{ metadata: { name: string } }>
  }
  return install.some(({ metadata }) => /^(nvidia|cuda)/i.test(metadata.name))
}

function pip(args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(python, ['-m', 'pip', '--disable-pip-version-check', ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
}
