import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/**
 * Installs the dependencies where this one is missing. Without install scripts: npm before 11.16 does not know
 * `allowScripts`, and a download that onnxruntime-node's script attempts would cost the native engine where it fails.
 */
export function installMissing(dependency) {
  if (existsSync(`node_modules/${dependency}`)) return
  console.error('installing dependencies (npm ci) …')
  // What the npm that runs this script was asked for, such as --dry-run or --json, is not meant for this one.
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
