import type { Command } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import type { SolverRequest } from '../../pipeline/index.ts'
import { settings } from '../globals.ts'
import { emit } from '../output.ts'
import { repeatable } from '../repeatable.ts'
import { addEvalOptions, type EvalOptions, evalFlags, parseModel, readEvalTasks } from './eval-options.ts'
import { sourceArgument } from './tasks-options.ts'

interface Options extends EvalOptions {
  model?: string[]
  team?: string | true
  plain?: boolean
  react?: boolean
  text?: boolean
  against?: string
  merge?: string[]
}

export function registerEval(program: Command): void {
  addEvalOptions(program.command('eval'))
    .argument('[tasks...]', sourceArgument)
    .description('evaluate a solver: accuracy, tokens, tool calls and cost')
    .option(
      '-m, --model <folder>',
      'a model that works alone with live tools, or name=folder; repeatable',
      repeatable,
    )
    .option('--team [topology]', 'a team (default topology: teach.topology)')
    .option('--plain', 'a model without tools: that of [eval] or [teacher], or --model')
    .option('--react', 'a ReAct agent that uses the same model as --plain')
    .option(
      '--text',
      'the model given by --model continues the question as plain text; its Python code is run',
    )
    .option('--against <run>', "compare with another run's attempts at the same tasks")
    .option('--merge <runs...>', 'merge the parts of a sharded evaluation')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa eval math search --model runs/ID/checkpoints/sft -n 100',
        '  $ coa eval math --model sft=runs/ID/checkpoints/sft --model rl=runs/ID/checkpoints/rl',
        '  $ coa eval math --team manager -n 100',
        '  $ coa eval math --model runs/ID/checkpoints/rl --attempts 8 --against eval-1a2b3c4d',
        '  $ coa eval gaia.jsonl --react --set eval.base_url=http://localhost:8001/v1 --set eval.model=qwen3',
        '  $ coa eval math --model m --shard 1/2 --run part-1; coa eval math --model m --shard 2/2 --run part-2',
        '  $ coa eval --merge part-1 part-2 --run whole',
        '\nThe default split is test. If interrupted, run the same command again to resume.',
      ].join('\n'),
    )
    .action(async (sources: string[], _options, command: Command) => {
      const options = command.optsWithGlobals<Options>()
      const { config } = settings(options, {
        ...evalFlags(options),
        'teach.topology': typeof options.team === 'string' ? options.team : undefined,
      })
      const { describeEval } = await import('./eval-table.ts')
      if (options.merge !== undefined) {
        const { mergeRuns } = await import('./eval-merge.ts')
        const result = mergeRuns(config, options.merge, options.run)
        emit(options, result, () => describeEval(result))
        return
      }
      const requests = requestsOf(options)
      const { runEvaluation } = await import('./eval-run.ts')
      const result = await runEvaluation(config, {
        command: 'eval',
        tasks: await readEvalTasks(sources, options),
        requests,
        options,
        ...(options.against === undefined ? {} : { against: options.against }),
      })
      emit(options, result, () => describeEval(result))
    })
}

/** All solvers are of one kind. --plain, --react and --text use the models given by --model, if any. */
function requestsOf({ model: models = [], team, plain, react, text }: Options): SolverRequest[] {
  const kinds = [
    ...(plain === true ? ['plain' as const] : []),
    ...(react === true ? ['react' as const] : []),
    ...(text === true ? ['text' as const] : []),
    ...(team === undefined ? [] : ['team' as const]),
  ]
  const [kind = models.length === 0 ? undefined : 'model'] = kinds
  if (kind === undefined || kinds.length > 1 || (kind === 'team' && models.length > 0)) {
    throw new UsageError(kind === undefined ? 'no solver given' : 'more than one kind of solver given', {
      fix: 'Give one of --model FOLDER, --team, --plain, --react and --text. To compare a team with models, use `coa compare`.',
    })
  }
  if (models.length === 0) {
    if (kind === 'text')
      throw new UsageError('--text needs a model', { fix: 'Give its folder with --model.' })
    if (kind !== 'model') return [{ kind }]
  }
  const chosen = kind as Exclude<typeof kind, 'team'>
  return models.map((model) => ({ kind: chosen, ...parseModel(model) }))
}
