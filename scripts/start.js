/** `npm start`: the main job. Installs the dependencies first where they are missing. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

if (!existsSync('node_modules/commander')) {
  console.log('installing dependencies (npm ci) …')
  const installed = spawnSync('npm', ['ci', '--loglevel=error'], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (installed.status !== 0) process.exit(installed.status ?? 1)
}
// As if `coa quickstart` had been typed: the launcher may start itself again on a newer Node.
const launcher = new URL('../bin/coa.js', import.meta.url)
process.argv.splice(1, 1, fileURLToPath(launcher), 'quickstart')
await import(launcher.href)
