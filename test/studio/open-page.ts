import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { cleanEnvironment } from '../cli/coa.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const launcher = fileURLToPath(new URL('../../bin/coa.js', import.meta.url))

export const pageFolder = fileURLToPath(new URL('../../dist/studio/page', import.meta.url))

/** Builds the page as the package has it. */
export function buildPage(): void {
  const vite = ['node_modules/vite/bin/vite.js', 'build', '--config', 'studio/vite.config.ts']
  const { status, stderr } = spawnSync(process.execPath, vite, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the page was not built: ${stderr}`)
}

export interface RunningStudio {
  /** With the token. */
  url: string
  stop: () => Promise<void>
}

/** `coa studio` in a folder. */
export async function openStudio(cwd: string, ...options: string[]): Promise<RunningStudio> {
  const args = [launcher, 'studio', '--port', '0', '--json', ...options]
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd,
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout! })
  const [line] = (await once(lines, 'line')) as [string]
  return {
    url: (JSON.parse(line) as { url: string }).url,
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGINT')
      await ended
    },
  }
}
