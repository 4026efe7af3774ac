import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { CoaError } from '../../base/errors/index.ts'
import { type ChecksumReport, describeDamage, openRun, runFiles, verifyChecksums } from '../../store/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { findRun } from '../find-run.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { emit, mark } from '../output.ts'

export function registerRunVerify(parent: Command): void {
  parent
    .command('verify')
    .argument('<run>', 'id or path of a run, or "latest"')
    .description('compare every file of a run, including checkpoints, with its checksum')
    .addHelpText('after', '\nExample:\n  $ coa run verify latest')
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const dir = findRun(settings(options).config.project.runs, name)
      const check = verifyChecksums(dir)
      await verifyCheckpoints(dir, check)
      check.damaged.push(...damageOfLog(dir))
      if (check.damaged.length > 0) process.exitCode = exitCodes.findings.code
      emit(options, { dir, ...check }, () => describe(check))
    })
}

async function verifyCheckpoints(dir: string, check: ChecksumReport): Promise<void> {
  const { verifyCheckpoint } = await import('../../engine/index.ts')
  const { checkpoints } = runFiles(dir)
  const folders = existsSync(checkpoints) ? readdirSync(checkpoints) : []
  for (const folder of folders.filter((one) => existsSync(join(checkpoints, one, 'coa-checkpoint.json')))) {
    try {
      verifyCheckpoint(join(checkpoints, folder))
      check.intact.push(join('checkpoints', folder))
    } catch (error) {
      if (!CoaError.isInstance(error)) throw error
      check.damaged.push(`${join('checkpoints', folder)}: ${error.message}`)
    }
  }
}

/** Missing lines have no checksum; only the index knows about them. */
function damageOfLog(dir: string): string[] {
  try {
    using run = openRun(dir)
    return describeDamage({ ...run.recovery, damagedLines: 0 })
  } catch (error) {
    if (!CoaError.isInstance(error)) throw error
    return [error.message]
  }
}

function describe({ intact, damaged, unchecked }: ChecksumReport): string {
  return [
    ...damaged.map((what) => `${mark.bad} ${what}`),
    ...unchecked.map((name) => `${mark.open} ${name}: missing checksums`),
    `${damaged.length === 0 ? mark.good : mark.open} ${intact.length} files and checkpoints match their checksums`,
  ].join('\n')
}
