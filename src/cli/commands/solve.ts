import { type Command, Option } from 'commander'
import pc from 'picocolors'
import { Interrupted, UsageError } from '../../base/errors/index.ts'
import type { Grammar } from '../../language/grammar/index.ts'
import { ChainPainter } from '../chain-painter.ts'
import { exitCodes } from '../exit-codes.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { readInput } from '../input.ts'
import { interruptible } from '../interrupt.ts'
import { numberWithin, wholeNumber } from '../numbers.ts'
import { solveWithEvents } from '../solve-events.ts'
import { candidateLine, reportSolved } from '../solve-report.ts'

interface SolveOptions extends GlobalOptions {
  model?: string
  tokenizer?: string
  grammar?: string
  world?: number
  tools?: string
  maxTurns?: number
  temperature?: number
  seed?: number
  constrained?: boolean
  bestOf?: number
  votes?: number
  events?: boolean
  pick?: 'majority' | 'verifier' | 'judge'
}

export function registerSolve(program: Command): void {
  program
    .command('solve')
    .argument('[question]', 'the question (default: read from standard input)')
    .description('have a model answer a question, with its chain shown as it is written')
    .option(
      '-m, --model <folder|url>',
      'a checkpoint, "nano", or the URL of an inference server (default: student.model)',
    )
    .option('--tokenizer <folder>', "the model's folder, if --model is a URL (default: student.model)")
    .option('-g, --grammar <name>', 'name or file of a grammar (default: language.grammar)')
    .option(
      '--world <seed>',
      'search the fictional encyclopedia with this seed; generated tasks use 1',
      wholeNumber('--world', 0),
    )
    .option('--tools <list>', "use only these of the grammar's tools, such as web_search,crawl_page")
    .option(
      '--max-turns <count>',
      'maximum number of tool calls (default: rollout.max_turns)',
      wholeNumber('--max-turns'),
    )
    .option(
      '--temperature <number>',
      'sampling temperature; 0 is greedy (default: rollout.temperature)',
      numberWithin('--temperature', 0),
    )
    .option(
      '--seed <number>',
      'random seed; the same seed gives the same chain (default: random)',
      wholeNumber('--seed', 0),
    )
    .option('--constrained', 'sample only what the grammar allows')
    .option('--best-of <count>', 'sample this many answers and pick one', wholeNumber('--best-of'))
    .addOption(
      new Option('--pick <how>', 'how to pick one of --best-of answers (default: majority)').choices([
        'majority',
        'verifier',
        'judge',
      ]),
    )
    .option('--votes <count>', 'short for --best-of with --pick majority', wholeNumber('--votes'))
    .option('--events', 'print the chain as JSON lines while it is written, for programs')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa solve "In what year was the first captain of SS Wilhelm Avenue born?" --world 1',
        '  $ coa solve "What is 17 * 144?" --grammar math --model runs/ID/checkpoints/rl',
        '  $ coa solve "What is 17 * 144?" --grammar math --votes 8 > answer.txt',
        '  $ coa solve "What is 17 * 144?" --grammar math --events | jq -r .type',
        '  $ coa solve "What is 17 * 144?" --grammar math --model http://localhost:8080 --tokenizer models/mine',
        '\nIf standard output is not a terminal, it gets only the answer; the chain goes to standard error.',
        'The exit code is 3 if the model gives no answer.',
      ].join('\n'),
    )
    .action(async (given: string | undefined, _options, command: Command) => {
      await solve(given, command.optsWithGlobals<SolveOptions>())
    })
}

async function solve(given: string | undefined, options: SolveOptions): Promise<void> {
  const question = questionOf(given)
  const bestOf = countOf(options)
  const { modelSettings, openChainModel, pickerFor } = await import('../../pipeline/solve/index.ts')
  const { config } = settings(options, {
    ...modelSettings(options.model, options.tokenizer),
    'language.grammar': options.grammar,
    'rollout.max_turns': options.maxTurns,
    'rollout.temperature': options.temperature,
    'rollout.constrained': options.constrained,
  })
  await pickerFor(config, { bestOf, pick: options.pick })
  const tools = options.tools?.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  const model = await openChainModel(config, { tools, world: options.world })
  if (options.events === true) {
    await solveWithEvents(model, question, { bestOf, pick: options.pick, seed: options.seed })
    return
  }
  const screen = options.json === true ? undefined : process.stdout.isTTY ? process.stdout : process.stderr
  const painter = screen === undefined || bestOf > 1 ? undefined : painterOn(screen, model.grammar)
  try {
    await interruptible(async (signal) => {
      const solved = await model
        .solve(question, {
          bestOf,
          pick: options.pick,
          seed: options.seed,
          signal,
          onText: painter && ((text, from) => painter.push(text, from)),
          onCandidate: (rollout, number) => screen?.write(`${candidateLine(rollout, number)}\n`),
        })
        .finally(() => painter?.end())
      reportSolved(options, solved, screen)
    }, '')
  } catch (error) {
    if (!(error instanceof Interrupted) || options.json === true) throw error
    process.stderr.write(`${pc.dim('interrupted by Ctrl-C')}\n`)
    process.exitCode = exitCodes.interrupted.code
  } finally {
    await model.close()
  }
}

function questionOf(given: string | undefined): string {
  if (given === undefined && process.stdin.isTTY) {
    throw new UsageError('no question given', {
      fix: 'Give it as a quoted argument, or pipe it in.',
    })
  }
  const question = (given ?? readInput('-')).trim()
  if (question !== '') return question
  throw new UsageError('the question is empty', { fix: 'Give the question as a quoted argument.' })
}

function countOf({ bestOf, votes, pick: how }: SolveOptions): number {
  if (votes !== undefined && (bestOf !== undefined || (how !== undefined && how !== 'majority'))) {
    throw new UsageError('--votes already implies --best-of and --pick majority', {
      fix: 'Omit --votes, or --best-of and --pick.',
    })
  }
  if (how !== undefined && bestOf === undefined && votes === undefined) {
    throw new UsageError('--pick needs several answers', { fix: 'Add --best-of, such as --best-of 8.' })
  }
  return bestOf ?? votes ?? 1
}

function painterOn(screen: NodeJS.WriteStream, grammar: Grammar): ChainPainter {
  // Standard error may be a terminal even if standard output is not.
  const hasColors = pc.isColorSupported || (screen.isTTY && screen.hasColors())
  return new ChainPainter(grammar, {
    write: (text) => screen.write(text),
    colors: pc.createColors(hasColors),
    live: screen.isTTY,
  })
}
