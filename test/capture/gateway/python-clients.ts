import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cache = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url))
const venv = join(cache, 'coa-client-python')

/**
 * A Python with the official `openai` and `anthropic` packages: that of COA_TEST_CLIENT_PYTHON, or an environment that is created
 * once (100 MB, half a minute). If there is none, the reason why.
 */
export function pythonWithClients(): { python?: string; missing: string } {
  const named = process.env['COA_TEST_CLIENT_PYTHON']
  if (named !== undefined && named !== '') return { python: named, missing: '' }
  const python = join(venv, 'bin', 'python')
  if (existsSync(python)) return { python, missing: '' }
  mkdirSync(cache, { recursive: true })
  // Another test may do the same at the same time; the first to finish is kept.
  const draft = `${venv}-${process.pid}`
  const steps: [string, string[]][] = [
    ['python3', ['-m', 'venv', draft]],
    [
      join(draft, 'bin', 'python'),
      [
        '-m',
        'pip',
        '--disable-pip-version-check',
        'install',
        '--quiet',
        '--no-compile',
        'openai',
        'anthropic',
      ],
    ],
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
