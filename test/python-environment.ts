import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cache = fileURLToPath(new URL('../node_modules/.cache', import.meta.url))

/**
 * A Python with these packages: that of the variable, or an environment that is created once. If there is none, the reason why.
 */
export function pythonWith(
  packages: readonly string[],
  { variable, name }: { variable: string; name: string },
): { python?: string; missing: string } {
  const named = process.env[variable]
  if (named !== undefined && named !== '') return { python: named, missing: '' }
  const venv = join(cache, name)
  const python = join(venv, 'bin', 'python')
  if (existsSync(python)) return { python, missing: '' }
  mkdirSync(cache, { recursive: true })
  // Another test may do the same at the same time; the first to finish is kept.
  const draft = `${venv}-${process.pid}`
  const pip = ['-m', 'pip', '--disable-pip-version-check', 'install', '--quiet', '--no-compile']
  const steps: [string, string[]][] = [
    ['python3', ['-m', 'venv', draft]],
    [join(draft, 'bin', 'python'), [...pip, ...packages]],
  ]
  for (const [command, args] of steps) {
    const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
    if (status === 0) continue
    rmSync(draft, { recursive: true, force: true })
    return { missing: `${command} ${args.join(' ')} failed: ${error?.message ?? stderr.slice(-500)}` }
  }
  try {
    renameSync(draft, venv)
  } catch {
    rmSync(draft, { recursive: true, force: true })
  }
  return { python, missing: '' }
}
