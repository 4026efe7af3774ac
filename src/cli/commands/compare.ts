import type { Command } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import type { SolverRequest } from '../../pipeline/index.ts'
import { settings } from '../globals.ts'
import { emit } from '../output.ts'
import { repeatable } from '../repeatable.ts'
import { addEvalOptions, type EvalOptions, evalFlags, parseModel, readEvalTasks } from './eval-options.ts'

interface Options extends EvalOptions {
  model?: string[]
  team?: string
  mind?: string
}

export function registerCompare(program: Command): void {
  addEvalOptions(program.command('compare'))
    .argument('[tasks...]', 'suites, benchmarks or files (default: tasks.suites)')
    .description('compare a team with models on the same tasks: tokens saved and accuracy kept')
    .option('-m, --model <folder>', 'a model folder, or name=folder; repeatable', repeatable)
    .option('--team <topology>', 'manager, pipeline, debate, refine, or a .ts file (default: teach.topology)')
    .option(
      '--mind <name>',
      'what plays the agents: the scripts careful or erring, or model (default: teach.mind)',
    )
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa compare math --model runs/ID/checkpoints/rl -n 300',
        '  $ coa compare math search -m base=nano -m runs/ID/checkpoints/sft -m runs/ID/checkpoints/rl',
        '  $ coa compare math --model runs/ID/checkpoints/rl --attempts 8   # pass@1, 2, 4 and 8',
        "\nAll tokens are counted with the first model's tokenizer. If interrupted, run the same command again to resume.",
      ].join('\n'),
    )
    .action(async (sources: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const { config } = settings(options, {
        ...evalFlags(options),
        'teach.topology': options.team,
        'teach.mind': options.mind,
      })
      const models = options.model ?? []
      if (models.length === 0) {
        throw new UsageError('no model given', {
          fix: 'Give one, such as --model runs/ID/checkpoints/rl.',
        })
      }
      const requests: SolverRequest[] = [
        { kind: 'team' },
        ...models.map((model) => ({ kind: 'model' as const, ...parseModel(model) })),
      ]
      const { runEvaluation } = await import('./eval-run.ts')
      const { suiteName } = await import('../../tasks/index.ts')
      const { describeEval } = await import('./eval-table.ts')
      const result = await runEvaluation(config, {
        command: 'compare',
        tasks: await readEvalTasks(
          sources.length > 0 ? sources : config.tasks.suites.map(suiteName),
          options,
        ),
        requests,
        options,
      })
      emit(options, result, () => describeEval(result))
    })
}
