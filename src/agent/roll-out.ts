import type { Spotlight } from '../base/progress/index.ts'
import { seedOf } from '../base/random/index.ts'
import type { Sample } from '../engine/index.ts'
import { buildPrompt, isWellFormed, parseChain, reactGrammar } from '../language/grammar/index.ts'
import { encodePrompt, TextStream } from '../language/tokens/index.ts'
import { checkAnswer } from '../reward/index.ts'
import type { Rollout } from '../schema/index.ts'
import type { World } from '../world/index.ts'
import { ChainReader } from './chain-reader.ts'
import { startConstrained } from './constrained.ts'
import { Context } from './context.ts'
import type { Policy, RolloutJob, RolloutSettings } from './contract.ts'
import { type Failure, failureOf } from './failure.ts'
import { type Observation, observe } from './observation.ts'
import { rolloutSpans } from './rollout-spans.ts'
import { answerText, ToolCalls } from './tool-calls.ts'

export interface RollOutOptions {
  signal?: AbortSignal
  /** Called with text as it is added to the stream. */
  onText?: (text: string, from: 'model' | 'tool') => void
  /** Called before each tool call is made; the argument gives the stream up to it. */
  onCall?: (soFar: () => Pick<Rollout, 'promptTokens' | 'spans'>) => void
  /** Called after each tool call, before its output is added to the stream. */
  onCalled?: (call: Rollout['calls'][number]) => void
}

/** Minimum free tokens for another request. */
const LEAST_ROOM = 16

/**
 * The model alone works on a task in one stream: it writes, its tool calls are executed, their output is appended, and it
 * continues in the same context. Whatever happens, the result is a rollout; only the caller's own signal makes it throw.
 *
 * @example
 * import { openStudent, openWorld, ProjectConfig, rollOut, rolloutSettings, suites } from 'chain-of-agents'
 *
 * const config = ProjectConfig.parse({})
 * const policy = { ...(await openStudent(config, 'nano')), checkpoint: 'nano' }
 * const task = suites.get('math')!.generate({ seed: 1, split: 'test', index: 0 })
 * const job = { task, id: 'rollout-1', groupId: 'group-1', seed: 1 }
 * const { answer, verdict } = await rollOut(job, policy, await openWorld(config), rolloutSettings(config))
 */
export async function rollOut(
  job: RolloutJob,
  policy: Policy,
  world: World,
  settings: RolloutSettings,
  options: RollOutOptions = {},
): Promise<Rollout> {
  const { task } = job
  const { engine, tokenizer } = policy
  const { signal, onText } = options
  signal?.throwIfAborted()
  const whole = await world.grammarOf(task)
  const grammar = settings.react === true ? reactGrammar(whole) : whole
  const calls = new ToolCalls(grammar, await world.toolsOf(task), {
    ...world.calling,
    question: task.question,
  })
  const prompt = buildPrompt(grammar, task.question)
  const context = new Context(encodePrompt(tokenizer, prompt))
  const reader = new ChainReader(grammar, tokenizer)
  const shorter: Observation['shorter'][] = []
  const ms = { sampling: 0, tools: 0, checking: 0 }
  const deadline = AbortSignal.timeout(Math.ceil(settings.maxSeconds * 1000))
  const until = signal === undefined ? deadline : AbortSignal.any([signal, deadline])
  const stopTexts = [...grammar.agents.values()]
    .filter(({ kind }) => kind === 'tool' || kind === 'answer')
    // A token may include the line break after the tag.
    .flatMap(({ tag }) => [`</${tag}>`, `</${tag}>\n`])
  let constraint = settings.constrained ? startConstrained(grammar, policy) : undefined
  let answer: string | undefined
  let failure: Failure | undefined

  const sample = async (request: number, maxTokens: number) => {
    const began = performance.now()
    // An engine that does not report versions is taken to use the weights it has now.
    const now = policy.stepOf?.()
    const shown = new TextStream(tokenizer, { continuation: true, skipControlTokens: true })
    try {
      const [found] = await engine.sample({
        prompt: context.tokens(),
        maxTokens,
        temperature: settings.temperature,
        ...(settings.topP < 1 ? { topP: settings.topP } : {}),
        ...(settings.topK > 0 ? { topK: settings.topK } : {}),
        seed: seedOf('turn', job.seed, request),
        stopTokens: policy.endTokens,
        stopTexts,
        ...(constraint === undefined ? {} : { allowed: constraint.forRequest() }),
        ...(onText === undefined ? {} : { onToken: (token: number) => onText(shown.push(token), 'model') }),
        signal: until,
      })
      return { ...found!, steps: stepsOf(found!, now, policy) }
    } finally {
      ms.sampling += performance.now() - began
    }
  }

  /** Frees context by shortening observations, oldest first. */
  const makeRoom = (request: number): boolean => {
    const { contextLength } = engine.describe()
    while (context.length + LEAST_ROOM > contextLength) {
      if (!context.shortenOldest(request, (call) => [...shorter[call]!()])) return false
    }
    return true
  }

  const insert = (output: string): void => {
    const observation = observe(grammar, tokenizer, output, settings.observationTokens)
    context.addObservation(shorter.length, observation.tokens)
    shorter.push(observation.shorter)
    reader.insert(observation.text)
    constraint = constraint?.inserted(observation.text)
    onText?.(observation.text, 'tool')
  }

  const work = async (): Promise<Rollout['stop']> => {
    for (let request = 0; ; request++) {
      const left = Math.min(
        settings.maxTokens - context.entered,
        (settings.maxSampled ?? Number.POSITIVE_INFINITY) - context.sampled,
      )
      if (left <= 0) return 'tokens'
      if (!makeRoom(request)) return 'context'
      const found = await sample(request, left)
      const { count, completed } = reader.read(found.tokens)
      context.addSampled(request, found, count, isPlain(settings), found.steps)
      for (const token of found.tokens.subarray(0, count)) constraint = constraint?.after(token)
      if (completed?.kind === 'answer') {
        answer = completed.answer === undefined ? undefined : answerText(completed.answer.payload)
        return 'answer'
      }
      if (completed !== undefined) {
        if (calls.list.length >= settings.maxTurns) return 'turns'
        if (calls.timesMade(completed) >= settings.maxSameCall) return 'repetition'
        options.onCall?.(() => ({
          promptTokens: context.prompt,
          spans: rolloutSpans(grammar, reader, context.parts),
        }))
        const result = await calls.make(completed, until)
        options.onCalled?.(calls.list.at(-1)!)
        ms.tools += result.ms
        failure ??= result.failure
        insert(result.output)
      } else if (found.stopped === 'token') return 'end'
      else if (found.stopped === 'nothing-allowed') return 'end'
      else if (found.stopped === 'length') return 'tokens'
    }
  }

  let stop: Rollout['stop']
  try {
    stop = await work()
  } catch (error) {
    signal?.throwIfAborted()
    stop = deadline.aborted ? 'time' : 'failed'
    if (stop === 'failed') failure ??= failureOf(error)
  }
  reader.end()
  const began = performance.now()
  const verdict = job.unchecked
    ? undefined
    : await checkAnswer(task.gold, answer, {
        ...world.check,
        question: task.question,
        ...(signal === undefined ? {} : { signal }),
      })
  signal?.throwIfAborted()
  ms.checking = performance.now() - began
  return {
    v: 2,
    id: job.id,
    taskId: task.id,
    groupId: job.groupId,
    checkpoint: policy.checkpoint,
    grammar: grammar.name,
    seed: job.seed,
    prompt,
    promptTokens: context.prompt,
    spans: rolloutSpans(grammar, reader, context.parts),
    stop,
    ...(answer === undefined ? {} : { answer }),
    ...(verdict === undefined ? {} : { verdict }),
    calls: calls.list,
    wellFormed: isWellFormed(parseChain(grammar, reader.text, { strict: true })),
    ms,
    ...(failure === undefined ? {} : { failure }),
    meta: { suite: task.suite, ...(task.level === undefined ? {} : { level: task.level }) },
  }
}

/** The training step of each token's weights, if they are to be recorded. */
function stepsOf({ tokens, versions }: Sample, now: number | undefined, { stepOf }: Policy) {
  if (stepOf === undefined || now === undefined) return undefined
  return Array.from(tokens, (_, at) => (versions === undefined ? now : stepOf(versions[at])))
}

/** Sampling follows the model's own distribution, so one log-probability is enough. */
function isPlain({ temperature, topP, topK, constrained }: RolloutSettings): boolean {
  return temperature === 1 && topP === 1 && topK === 0 && !constrained
}

interface WatchOptions {
  signal?: AbortSignal | undefined
  spotlight?: Spotlight | undefined
}

/** A rollout whose text can be shown in the spotlight. */
export async function rollOutWatched(
  job: RolloutJob,
  policy: Policy,
  world: World,
  settings: RolloutSettings,
  { signal, spotlight }: WatchOptions,
): Promise<Rollout> {
  const options: RollOutOptions = signal === undefined ? {} : { signal }
  if (spotlight === undefined) return rollOut(job, policy, world, settings, options)
  const spotted = spotlight.begin(job.task.question)
  try {
    return await rollOut(job, policy, world, settings, { ...options, onText: spotted.text })
  } finally {
    spotted.end()
  }
}
