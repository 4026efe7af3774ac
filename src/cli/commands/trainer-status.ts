import type { Command } from 'commander'
import type { TrainerStatus } from '../../engine/index.ts'
import { exitCodes } from '../exit-codes.ts'
import type { GlobalOptions } from '../globals.ts'
import { bytes, emit, mark, table } from '../output.ts'

export function registerTrainerStatus(parent: Command, home: () => string): void {
  parent
    .command('status')
    .description('show whether the trainer is running, its URL, device and memory')
    .addHelpText('after', '\nExamples:\n  $ coa trainer status\n  $ coa trainer status --json')
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const { trainerStatus } = await import('../../engine/index.ts')
      const status = await trainerStatus(home())
      emit(options, status, () => describe(status))
      if (!status.answers) process.exitCode = exitCodes.findings.code
    })
}

function describe({ running, answers, memory, gpuMemory, environment }: TrainerStatus): string {
  const python =
    environment === undefined ? 'not created yet' : `torch ${environment.torch}, ${environment.python}`
  if (running === undefined)
    return [
      `${mark.open} no trainer is running`,
      table([['environment', python]]),
      'To start one: coa trainer start --model FOLDER',
    ].join('\n')
  const head = answers
    ? `${mark.good} the trainer is running at ${running.url}`
    : `${mark.bad} the trainer at ${running.url} does not respond`
  const rows = [
    ['device', `${running.device}, ${running.dtype}`],
    ['memory', [memory === undefined ? 'unknown' : bytes(memory), gpuMemory].filter(Boolean).join(', GPU ')],
    ['models', running.models.join(', ')],
    ['API key', running.hasKey ? 'required' : 'none'],
    ['process', `${running.pid}, since ${running.startedAt}`],
    ['python', running.python],
    ['log', running.log],
  ]
  return `${head}\n${table(rows)}`
}
