import { type Policy, type RolloutSettings, streamTokens, type World } from '../../agent/index.ts'
import { digestOf } from '../../base/digests/index.ts'
import { seedOf } from '../../base/random/index.ts'
import type { Span, Task } from '../../schema/index.ts'
import { callTool, type Tool } from '../../world/tools/index.ts'
import { checkedAttempt } from './attempts.ts'
import type { Attempt, Solver } from './contract.ts'
import { tokenizerName } from './token-tally.ts'

interface TextSolverOptions {
  name: string
  /** Digest of the weights. */
  fingerprint: string
  policy: Policy
  world: World
  settings: RolloutSettings
}

const FENCE = '```'

/**
 * A base model that simply continues the question: no prompt, no tags, no chain. Python between fences is executed
 * and its output inserted, so the answer is the last line printed. It shows what the model can do before it is
 * trained to work as a chain of agents.
 */
export function textSolver({ name, fingerprint, policy, world, settings }: TextSolverOptions): Solver {
  return {
    name,
    kind: 'text',
    how: digestOf('text', fingerprint, settings),
    tokenizer: tokenizerName(policy.tokenizer),
    async solve(task, _attempt, seed, signal) {
      const code = (await world.toolsOf(task)).find((tool) => tool.name === 'code')
      const began = performance.now()
      const written = await continueText(task, code, { policy, world, settings, seed, signal })
      const { requests, ...tokens } = streamTokens(written)
      return await checkedAttempt(task, written.answer, world, signal, {
        tokens,
        calls: written.calls,
        requests,
        ms: Math.round(performance.now() - began),
        ...(written.failure === undefined ? {} : { failure: written.failure }),
      })
    },
  }
}

interface Written {
  promptTokens: number[]
  spans: Span[]
  calls: number
  answer?: string
  failure?: NonNullable<Attempt['failure']>
}

async function continueText(
  task: Task,
  code: Tool | undefined,
  {
    policy: { engine, tokenizer, endTokens },
    world,
    settings,
    seed,
    signal,
  }: Pick<TextSolverOptions, 'policy' | 'world' | 'settings'> & { seed: number; signal: AbortSignal },
): Promise<Written> {
  const encode = (text: string): number[] => [...tokenizer.encodeIds(text, { specials: 'text' })]
  const prompt = encode(`${task.question}\n\n`)
  const spans: Span[] = []
  const tokens = [...prompt]
  const written: Written = { promptTokens: prompt, spans, calls: 0 }
  const most = Math.min(settings.maxTokens, engine.describe().contextLength - prompt.length)
  /** Everything after the question. */
  let text = ''
  for (let request = 0; ; request++) {
    const left = most - (tokens.length - prompt.length)
    if (left <= 0) return written
    const [found] = await engine.sample({
      prompt: tokens,
      maxTokens: left,
      temperature: settings.temperature,
      seed: seedOf('text', seed, request),
      stopTokens: endTokens,
      stopTexts: [FENCE, `${FENCE}\n`],
      signal,
    })
    const sampled = [...found!.tokens]
    const added = tokenizer.decode(sampled, { continuation: true, skipControlTokens: true })
    spans.push({ agent: 'model', kind: 'role', text: added, origin: { request }, tokens: sampled })
    tokens.push(...sampled)
    text += added
    if (found!.stopped !== 'text') return written
    const program = closedProgram(text)
    if (program === undefined) continue
    if (code === undefined || written.calls >= settings.maxTurns) return written
    written.calls++
    const result = await callTool(
      code,
      { syntax: 'code', language: 'python', code: program },
      { ...world.calling, question: task.question, signal },
    )
    if (!result.ok && result.environment) written.failure ??= { boundary: 'tool', message: result.text }
    written.answer = result.text.trim().split('\n').at(-1)!
    const shown = `${text.endsWith('\n') ? '' : '\n'}${result.text}`
    const inserted = [...tokenizer.encodeContinuation(shown).ids]
    const origin = { call: written.calls - 1 }
    spans.push({ agent: code.name, kind: 'observation', text: shown, origin, tokens: inserted })
    tokens.push(...inserted)
    text += shown
  }
}

/** The program whose fence the text has just closed; undefined if its last fence opens one. */
function closedProgram(text: string): string | undefined {
  const pieces = text.split(FENCE)
  if (pieces.length % 2 === 0) return undefined
  return pieces.at(-2)!.replace(/^[a-z]*\n/, '')
}
