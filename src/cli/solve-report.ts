import pc from 'picocolors'
import { enteredTokens } from '../agent/index.ts'
import { refuseSilence, type Solved } from '../pipeline/solve/index.ts'
import type { Rollout } from '../schema/index.ts'
import { exitCodes } from './exit-codes.ts'
import { emit, mark } from './output.ts'
import { sanitize } from './sanitize.ts'

/** The cost of a question: tokens by origin, and tool calls. */
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

/** Why there is no answer. */
const stopReasons: Record<Rollout['stop'], string> = {
  answer: 'the answer could not be parsed',
  end: 'the model stopped without one',
  turns: 'reached the limit on tool calls (--max-turns)',
  tokens: 'reached the token limit (rollout.max_tokens)',
  repetition: 'the model kept repeating the same call',
  context: 'the context window is full',
  time: 'reached the time limit (rollout.max_seconds)',
  failed: 'the engine failed',
}

function whyNoAnswer({ stop, failure }: Rollout): string {
  return stop === 'failed' && failure !== undefined ? failure.message : stopReasons[stop]
}

export function candidateLine(rollout: Rollout, number: number): string {
  const { tokens, calls } = costOf([rollout])
  const facts = pc.dim(`${counted(tokens.sampled, 'token')}, ${counted(calls, 'call')}`)
  const answer =
    rollout.answer === undefined ? pc.dim(`no answer: ${whyNoAnswer(rollout)}`) : short(rollout.answer)
  return `#${number + 1}  ${answer}  ${facts}`
}

/** The beginning of an answer, as one line. */
function short(answer: string): string {
  const line = sanitize(answer.replaceAll(/\s+/g, ' ').trim())
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

/** Prints the answer and its cost, and sets the exit code. */
export function reportSolved(
  options: { json?: boolean },
  solved: Solved,
  screen: NodeJS.WriteStream | undefined,
): void {
  const { question, answer, model, grammar, rollouts, pick, seconds, seed } = solved
  const cost = costOf(rollouts)
  if (options.json === true) {
    emit(
      options,
      {
        question,
        answer: answer ?? null,
        model,
        grammar,
        seed,
        ...cost,
        seconds,
        ...(pick === undefined ? {} : { pick: { ...pick, chosen: pick.chosen ?? null } }),
        rollouts,
      },
      () => '',
    )
  } else {
    if (pick?.chosen !== undefined && answer !== undefined)
      screen?.write(
        `${mark.good} #${pick.chosen + 1}  ${pc.green(short(answer))}  ${pc.dim(`${pick.by}: ${short(pick.reason)}`)}\n`,
      )
    // The line above may have only the beginning of the answer.
    if (pick !== undefined && answer !== undefined && process.stdout.isTTY && short(answer) !== answer)
      process.stdout.write(`${pc.green(sanitize(answer))}\n`)
    process.stderr.write(`${pc.dim(costLine(cost, seconds, seed))}\n`)
    for (const { failure } of rollouts)
      if (failure !== undefined && answer !== undefined)
        process.stderr.write(`${mark.open} ${short(failure.message)}\n`)
    if (answer === undefined)
      process.stderr.write(`${mark.bad} no answer: ${pick?.reason ?? short(whyNoAnswer(rollouts[0]!))}\n`)
    else if (!process.stdout.isTTY) process.stdout.write(`${answer}\n`)
  }
  if (answer !== undefined) return
  process.exitCode = exitCodes.findings.code
  refuseSilence(solved)
}
