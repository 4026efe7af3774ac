import { randomInt } from 'node:crypto'
import { type Command, Option } from 'commander'
import pc from 'picocolors'
import type { Choice, Policy, RolloutJob } from '../../agent/index.ts'
import { Interrupted, UsageError } from '../../base/errors/index.ts'
import { seedOf } from '../../base/random/index.ts'
import { type Grammar, projectGrammar } from '../../language/grammar/index.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import type { Rollout, Task } from '../../schema/index.ts'
import { ChainPainter } from '../chain-painter.ts'
import { exitCodes } from '../exit-codes.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { readInput } from '../input.ts'
import { interruptible } from '../interrupt.ts'
import { numberWithin, wholeNumber } from '../numbers.ts'
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
  pick?: Choice['by']
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
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa solve "In what year was the first captain of SS Wilhelm Avenue born?" --world 1',
        '  $ coa solve "What is 17 * 144?" --grammar math --model runs/ID/checkpoints/rl',
        '  $ coa solve "What is 17 * 144?" --grammar math --votes 8 > answer.txt',
        '  $ coa solve "What is 17 * 144?" --grammar math --model http://localhost:8080 --tokenizer models/mine',
        '\nIf standard output is not a terminal, it gets only the answer; the chain goes to standard error.',
        'The exit code is 3 if the model gives no answer.',
      ].join('\n'),
    )
    .action(async (given: string | undefined, _options, command: Command) => {
      await solve(given, command.optsWithGlobals<SolveOptions>())
    })
}

function serverUrlOf({ model, tokenizer }: SolveOptions): string | undefined {
  if (model !== undefined && URL.canParse(model) && /^https?:/.test(model)) return model
  if (tokenizer === undefined) return undefined
  throw new UsageError('--tokenizer works only if --model is a URL', {
    fix: 'Omit it: a model folder has its own tokenizer. Or give a URL, such as --model http://localhost:8080.',
  })
}

async function solve(given: string | undefined, options: SolveOptions): Promise<void> {
  const question = questionOf(given)
  const url = serverUrlOf(options)
  const { config } = settings(options, {
    'student.model': url === undefined ? options.model : options.tokenizer,
    'engine.url': url,
    'engine.driver': url === undefined ? undefined : 'openai',
    'language.grammar': options.grammar,
    'rollout.max_turns': options.maxTurns,
    'rollout.temperature': options.temperature,
    'rollout.constrained': options.constrained,
  })
  const count = countOf(options, config)
  const { answerPicker } = await import('../../pipeline/answer-picker.ts')
  const picker = await answerPicker(options.pick ?? 'majority', config)
  const agent = await import('../../agent/index.ts')
  agent.modelFolder(config.student.model)
  const task: Task = {
    v: 1,
    id: 'question',
    suite: 'solve',
    domain: (await projectGrammar(config.language)).name,
    question,
    // Unknown, so the rollout is not checked.
    gold: { checker: 'judge', answer: '' },
    meta: options.world === undefined ? {} : { world: options.world },
  }
  const opened = await agent.openWorld(config)
  let student: Awaited<ReturnType<typeof agent.openStudent>> | undefined
  try {
    const tools = options.tools?.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
    const { world, grammar } = await agent.worldForQuestion(opened, task, config, tools)
    picker.assertFits(grammar)
    student = await agent.openStudent(config)
    const policy: Policy = { ...student, checkpoint: url ?? student.folder }
    const limits = agent.rolloutSettings(config)
    const seed = options.seed ?? randomInt(2 ** 32)
    const jobs = Array.from({ length: count }, (_, number): RolloutJob => {
      const own = seedOf(seed, 'solve', number)
      return { task, id: `question#${number}`, groupId: 'question', seed: own, unchecked: true }
    })
    const screen = options.json === true ? undefined : process.stdout.isTTY ? process.stdout : process.stderr
    const started = performance.now()
    await interruptible(async (signal) => {
      let rollouts: Rollout[]
      let choice: Choice | undefined
      if (count === 1) {
        const painter = screen === undefined ? undefined : painterOn(screen, grammar)
        try {
          rollouts = [
            await agent.rollOut(jobs[0]!, policy, world, limits, {
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
        rollouts = await agent.rollOutAll(jobs, policy, world, limits, {
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
      const seconds = (performance.now() - started) / 1000
      reportSolved(options, { question, grammar, policy, rollouts, choice, seconds, seed, screen })
    }, '')
  } catch (error) {
    if (!(error instanceof Interrupted) || options.json === true) throw error
    process.stderr.write(`${pc.dim('interrupted by Ctrl-C')}\n`)
    process.exitCode = exitCodes.interrupted.code
  } finally {
    await student?.engine.close()
    await opened.close()
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

function countOf({ bestOf, votes, pick: how }: SolveOptions, config: ProjectConfig): number {
  if (votes !== undefined && (bestOf !== undefined || (how !== undefined && how !== 'majority'))) {
    throw new UsageError('--votes already implies --best-of and --pick majority', {
      fix: 'Omit --votes, or --best-of and --pick.',
    })
  }
  const count = bestOf ?? votes ?? 1
  if (how !== undefined && bestOf === undefined && votes === undefined) {
    throw new UsageError('--pick needs several answers', { fix: 'Add --best-of, such as --best-of 8.' })
  }
  if (count > 1 && config.rollout.temperature === 0) {
    throw new UsageError(`at temperature 0, all ${count} answers would be the same`, {
      fix: 'Omit --temperature 0, or sample only one answer.',
    })
  }
  return count
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
