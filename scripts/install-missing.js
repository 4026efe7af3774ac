import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/**
 * Installs the dependencies if this one is missing. Without install scripts: npm before 11.16 does not support
 * `allowScripts`, and onnxruntime-node's script attempts a download whose failure would break the native engine.
 */
export function installMissing(dependency) {
  if (existsSync(`node_modules/${dependency}`)) return
  console.error('installing dependencies (npm ci) …')
  // Flags of the npm that runs this script, such as --dry-run or --json, must not apply to this one.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_config_(dry_run|json|omit)$/.test(name)),
  )
  const args = ['ci', '--include=dev', '--ignore-scripts', '--loglevel=error']
  const { status } = spawnSync('npm', args, {
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
    env,
  })
  if (status !== 0) process.exit(status ?? 1)
}
