import { randomInt } from 'node:crypto'
import { type Command, Option } from 'commander'
import pc from 'picocolors'
import type { Choice, Policy, RolloutJob } from '../../agent/index.ts'
import { UsageError } from '../../base/errors/index.ts'
import { seedOf } from '../../base/random/index.ts'
import { type Grammar, projectGrammar } from '../../language/grammar/index.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import type { Rollout, Task } from '../../schema/index.ts'
import { ChainPainter } from '../chain-painter.ts'
import { exitCodes } from '../exit-codes.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { readInput } from '../input.ts'
import { Interrupted, interruptible } from '../interrupt.ts'
import { numberWithin, wholeNumber } from '../numbers.ts'
import { pickerOf } from '../solve-pick.ts'
import { candidateLine, reportSolved } from '../solve-report.ts'
import { worldForQuestion } from '../solve-world.ts'

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
  pick?: Choice['by']
}

export function registerSolve(program: Command): void {
  program
    .command('solve')
    .argument('[question]', 'what you want to know; without it, standard input')
    .description('have a model answer a question, its chain shown as it is written')
    .option(
      '-m, --model <folder|address>',
      'a checkpoint, "nano", or the address of a server that serves a model (default: student.model)',
    )
    .option('--tokenizer <folder>', 'of a model behind an address: its folder (default: student.model)')
    .option('-g, --grammar <name>', 'grammar, or the file of one (default: language.grammar)')
    .option(
      '--world <seed>',
      'search the fictional encyclopedia of this seed; tasks are about 1',
      wholeNumber('--world', 0),
    )
    .option('--tools <list>', 'only these tools of the grammar, such as web_search,crawl_page')
    .option('--max-turns <count>', 'most tool calls (default: rollout.max_turns)', wholeNumber('--max-turns'))
    .option(
      '--temperature <number>',
      '0 always takes the likeliest token (default: rollout.temperature)',
      numberWithin('--temperature', 0),
    )
    .option(
      '--seed <number>',
      'the same seed gives the same chain (default: another each time)',
      wholeNumber('--seed', 0),
    )
    .option('--constrained', 'sample only what the grammar allows')
    .option('--best-of <count>', 'solve it so many times and pick one', wholeNumber('--best-of'))
    .addOption(
      new Option('--pick <how>', 'how one of --best-of is picked (default: majority)').choices([
        'majority',
        'verifier',
        'judge',
      ]),
    )
    .option('--votes <count>', 'the same as --best-of with --pick majority', wholeNumber('--votes'))
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa solve "In what year was the first captain of SS Wilhelm Avenue born?" --world 1',
        '  $ coa solve "What is 17 * 144?" --grammar math --model runs/ID/checkpoints/rl',
        '  $ coa solve "What is 17 * 144?" --grammar math --votes 8 > answer.txt',
        '  $ coa solve "What is 17 * 144?" --grammar math --model http://localhost:8080 --tokenizer models/mine',
        '\nWhere standard output is no terminal it gets the answer alone, and the chain goes to standard error.',
        'Exit code 3: the model gave no answer.',
      ].join('\n'),
    )
    .action(async (given: string | undefined, _options, command: Command) => {
      await solve(given, command.optsWithGlobals<SolveOptions>())
    })
}

/** Where the model is served, if it is not a folder. */
function addressOf({ model, tokenizer }: SolveOptions): string | undefined {
  if (model !== undefined && URL.canParse(model) && /^https?:/.test(model)) return model
  if (tokenizer === undefined) return undefined
  throw new UsageError('--tokenizer is for a model behind an address', {
    fix: 'Leave it out: a folder has its own. Or give an address, such as --model http://localhost:8080.',
  })
}

async function solve(given: string | undefined, options: SolveOptions): Promise<void> {
  const question = questionOf(given)
  const address = addressOf(options)
  const { config } = settings(options, {
    'student.model': address === undefined ? options.model : options.tokenizer,
    'engine.url': address,
    'engine.driver': address === undefined ? undefined : 'openai',
    'language.grammar': options.grammar,
    'rollout.max_turns': options.maxTurns,
    'rollout.temperature': options.temperature,
    'rollout.constrained': options.constrained,
  })
  const count = countOf(options, config)
  const picker = await pickerOf(options.pick ?? 'majority', config)
  const rolling = await import('../../agent/index.ts')
  rolling.modelFolder(config.student.model)
  const task: Task = {
    v: 1,
    id: 'question',
    suite: 'solve',
    domain: (await projectGrammar(config.language)).name,
    question,
    // Nobody knows it, so the job is unchecked.
    gold: { checker: 'judge', answer: '' },
    meta: options.world === undefined ? {} : { world: options.world },
  }
  const opened = await rolling.openWorld(config)
  let student: Awaited<ReturnType<typeof rolling.openStudent>> | undefined
  try {
    const tools = options.tools?.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
    const { world, grammar } = await worldForQuestion(opened, task, config, tools)
    picker.assertFits(grammar)
    student = await rolling.openStudent(config)
    const policy: Policy = { ...student, checkpoint: address ?? student.folder }
    const limits = rolling.rolloutSettings(config)
    const seed = options.seed ?? randomInt(2 ** 32)
    const jobs = Array.from({ length: count }, (_, number): RolloutJob => {
      const own = seedOf(seed, 'solve', number)
      return { task, id: `question#${number}`, groupId: 'question', seed: own, unchecked: true }
    })
    const screen = options.json === true ? undefined : process.stdout.isTTY ? process.stdout : process.stderr
    const began = performance.now()
    await interruptible(async (signal) => {
      let rollouts: Rollout[]
      let choice: Choice | undefined
      if (count === 1) {
        const painter = screen === undefined ? undefined : painterOn(screen, grammar)
        try {
          rollouts = [
            await rolling.rollOut(jobs[0]!, policy, world, limits, {
              signal,
              ...(painter === undefined
                ? {}
                : { onText: (text: string, from: 'model' | 'tool') => painter.push(text, from) }),
            }),
          ]
        } finally {
          painter?.end()
        }
      } else {
        rollouts = await rolling.rollOutAll(jobs, policy, world, limits, {
          concurrency: config.rollout.concurrency,
          signal,
          onRollout: (rollout) =>
            screen?.write(
              `${candidateLine(
                rollout,
                jobs.findIndex(({ id }) => id === rollout.id),
              )}\n`,
            ),
        })
        choice = await picker.pick({ question, candidates: rollouts, grammar }, signal)
      }
      const seconds = (performance.now() - began) / 1000
      reportSolved(options, { question, grammar, policy, rollouts, choice, seconds, seed, screen })
    }, '')
  } catch (error) {
    if (!(error instanceof Interrupted) || options.json === true) throw error
    process.stderr.write(`${pc.dim('stopped by Ctrl-C')}\n`)
    process.exitCode = exitCodes.interrupted.code
  } finally {
    await student?.engine.close()
    await opened.close()
  }
}

function questionOf(given: string | undefined): string {
  if (given === undefined && process.stdin.isTTY) {
    throw new UsageError('no question is asked', {
      fix: 'Write it behind the command in quotes, or pipe it in.',
    })
  }
  const question = (given ?? readInput('-')).trim()
  if (question !== '') return question
  throw new UsageError('the question is empty', { fix: 'Write what you want to know, in quotes.' })
}

function countOf({ bestOf, votes, pick: how }: SolveOptions, config: ProjectConfig): number {
  if (votes !== undefined && (bestOf !== undefined || (how !== undefined && how !== 'majority'))) {
    throw new UsageError('--votes is a --best-of by majority of its own', {
      fix: 'Leave out --votes, or --best-of and --pick.',
    })
  }
  const count = bestOf ?? votes ?? 1
  if (how !== undefined && bestOf === undefined && votes === undefined) {
    throw new UsageError('--pick has nothing to pick from', { fix: 'Add --best-of, such as --best-of 8.' })
  }
  if (count > 1 && config.rollout.temperature === 0) {
    throw new UsageError(`at temperature 0 all ${count} would be the same`, {
      fix: 'Leave out --temperature 0, or solve it once.',
    })
  }
  return count
}

function painterOn(screen: NodeJS.WriteStream, grammar: Grammar): ChainPainter {
  // Standard error may be a terminal where standard output is none.
  const hasColours = pc.isColorSupported || (screen.isTTY && screen.hasColors())
  return new ChainPainter(grammar, {
    write: (text) => screen.write(text),
    colours: pc.createColors(hasColours),
    live: screen.isTTY,
  })
}
