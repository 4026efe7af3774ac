import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const version = '3.22.1'
const cache = fileURLToPath(new URL('../../../node_modules/.cache/coa-llama-cpp', import.meta.url))

/**
 * A folder with node-llama-cpp installed, or the reason why there is none. With all its GPU variants the package is too
 * large to be a dependency, so only the CPU version (85 MB) is downloaded and cached. COA_TEST_LLAMA_CPP may name a folder
 * whose node_modules has it; 0 skips it.
 */
export function llamaCppPackage(): { folder: string } | { missing: string } {
  const requested = process.env['COA_TEST_LLAMA_CPP'] ?? ''
  const has = (folder: string): boolean => existsSync(join(folder, 'node_modules/node-llama-cpp'))
  if (requested === '0') return { missing: 'COA_TEST_LLAMA_CPP=0 skips it' }
  if (requested !== '' && requested !== '1')
    return has(requested) ? { folder: requested } : { missing: `no node-llama-cpp in ${requested}` }
  const folder = join(cache, version)
  return has(folder) ? { folder } : install(folder)
}

function install(folder: string): { folder: string } | { missing: string } {
  // Unique to this process: another may be installing too.
  const temporary = `${folder}.${process.pid}.part`
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary, { recursive: true })
  writeFileSync(join(temporary, 'package.json'), '{ "private": true }\n')
  const metal = process.platform === 'darwin' && process.arch === 'arm64' ? '-metal' : ''
  const platform = { darwin: 'mac', win32: 'win' }[process.platform as string] ?? process.platform
  const packages = [
    `node-llama-cpp@${version}`,
    `@node-llama-cpp/${platform}-${process.arch}${metal}@${version}`,
  ]
  const { status, error, stderr } = spawnSync(
    'npm',
    ['install', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', ...packages],
    { cwd: temporary, encoding: 'utf8' },
  )
  if (status !== 0) return { missing: `npm install failed: ${error?.message ?? stderr.slice(-500)}` }
  // Renamed last, so that a partial installation is never used.
  try {
    renameSync(temporary, folder)
  } catch {
    // Another process was first.
    rmSync(temporary, { recursive: true, force: true })
  }
  return { folder }
}
