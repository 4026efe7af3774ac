import pc from 'picocolors'
import { type Choice, enteredTokens, type Policy } from '../agent/index.ts'
import { EngineError } from '../base/errors/index.ts'
import type { Grammar } from '../language/grammar/index.ts'
import type { Rollout } from '../schema/index.ts'
import { exitCodes } from './exit-codes.ts'
import { harmless } from './live-text.ts'
import { emit, mark } from './output.ts'

/** What a question cost: tokens by where they come from, and calls. */
interface Cost {
  tokens: { prompt: number; sampled: number; inserted: number }
  calls: number
}

function costOf(rollouts: readonly Rollout[]): Cost {
  const tokens = { prompt: 0, sampled: 0, inserted: 0 }
  for (const rollout of rollouts)
    for (const [from, count] of Object.entries(enteredTokens(rollout)))
      tokens[from as keyof typeof tokens] += count
  return { tokens, calls: rollouts.reduce((sum, { calls }) => sum + calls.length, 0) }
}

/** Why there is no answer, in words. */
const endings: Record<Rollout['stop'], string> = {
  answer: 'its answer cannot be read',
  end: 'the model ended without one',
  turns: 'it made as many calls as it may (--max-turns)',
  tokens: 'it wrote as much as it may (rollout.max_tokens)',
  repetition: 'it made the same call over and over',
  context: 'its context is full',
  time: 'its time is over (rollout.max_seconds)',
  failed: 'the engine failed',
}

function whyNone({ stop, failure }: Rollout): string {
  return stop === 'failed' && failure !== undefined ? failure.message : endings[stop]
}

/** One candidate in one line. */
export function candidateLine(rollout: Rollout, number: number): string {
  const { tokens, calls } = costOf([rollout])
  const facts = pc.dim(`${counted(tokens.sampled, 'token')}, ${counted(calls, 'call')}`)
  const answer =
    rollout.answer === undefined ? pc.dim(`no answer: ${whyNone(rollout)}`) : short(rollout.answer)
  return `#${number + 1}  ${answer}  ${facts}`
}

/** The beginning of an answer, in one line that a terminal can be given. */
function short(answer: string): string {
  const line = harmless(answer.replaceAll(/\s+/g, ' ').trim())
  const characters = [...line]
  return characters.length <= 100 ? line : `${characters.slice(0, 99).join('')}…`
}

function costLine({ tokens, calls }: Cost, seconds: number, seed: number): string {
  const { prompt, sampled, inserted } = tokens
  const parts = `prompt ${number(prompt)}, sampled ${number(sampled)}, inserted ${number(inserted)}`
  const total = counted(prompt + sampled + inserted, 'token')
  return `${total} (${parts}), ${counted(calls, 'call')}, ${seconds.toFixed(1)} s, seed ${seed}`
}

function counted(count: number, thing: string): string {
  return `${number(count)} ${thing}${count === 1 ? '' : 's'}`
}

function number(count: number): string {
  return count.toLocaleString('en')
}

export interface Solved {
  question: string
  grammar: Grammar
  policy: Policy
  rollouts: Rollout[]
  /** Undefined where there was nothing to choose from. */
  choice: Choice | undefined
  seconds: number
  seed: number
  screen: NodeJS.WriteStream | undefined
}

/** The answer, what it cost, and the exit code. */
export function reportSolved(options: { json?: boolean }, solved: Solved): void {
  const { question, grammar, policy, rollouts, choice, seconds, seed, screen } = solved
  const chosen = choice === undefined ? 0 : choice.chosen
  const answer = chosen === undefined ? undefined : rollouts[chosen]!.answer
  const cost = costOf(rollouts)
  if (options.json === true) {
    emit(
      options,
      {
        question,
        answer: answer ?? null,
        model: policy.checkpoint,
        grammar: grammar.name,
        seed,
        ...cost,
        seconds,
        ...(choice === undefined ? {} : { pick: { ...choice, chosen: chosen ?? null } }),
        rollouts,
      },
      () => '',
    )
  } else {
    if (choice !== undefined && chosen !== undefined && answer !== undefined)
      screen?.write(
        `${mark.good} #${chosen + 1}  ${pc.green(short(answer))}  ${pc.dim(`${choice.by}: ${short(choice.reason)}`)}\n`,
      )
    // The line above has the beginning of it.
    if (choice !== undefined && answer !== undefined && process.stdout.isTTY && short(answer) !== answer)
      process.stdout.write(`${pc.green(harmless(answer))}\n`)
    process.stderr.write(`${pc.dim(costLine(cost, seconds, seed))}\n`)
    for (const { failure } of rollouts)
      if (failure !== undefined && answer !== undefined)
        process.stderr.write(`${mark.open} ${short(failure.message)}\n`)
    if (answer === undefined)
      process.stderr.write(`${mark.bad} no answer: ${choice?.reason ?? short(whyNone(rollouts[0]!))}\n`)
    else if (!process.stdout.isTTY) process.stdout.write(`${answer}\n`)
  }
  if (answer !== undefined) return
  process.exitCode = exitCodes.findings.code
  const broken = rollouts.find(({ stop }) => stop === 'failed')
  if (broken !== undefined && rollouts.every(({ stop }) => stop === 'failed')) {
    throw new EngineError(`the engine failed: ${broken.failure?.message}`, {
      fix: 'See `coa doctor`, and `coa engine contract --model FOLDER`.',
    })
  }
}
