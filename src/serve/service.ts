import { randomInt, randomUUID } from 'node:crypto'
import type {
  Choice,
  JudgedQuestion,
  PickBy,
  Policy,
  RolloutJob,
  RolloutSettings,
  Step,
  StepListener,
  World,
} from '../agent/index.ts'
import { seedOf } from '../base/random/index.ts'
import { buildPrompt, type Grammar } from '../language/grammar/index.ts'
import { encodePrompt } from '../language/tokens/index.ts'
import type { Rollout, Task } from '../schema/index.ts'
import { ApiError, chainFailed } from './api-error.ts'
import type { Ask, CallResult, PickName } from './ask.ts'
import { Chain, type ChainTurn } from './chain.ts'
import type { ClientFunction } from './functions.ts'
import { GrammarVariants } from './grammar-variants.ts'
import { HeldChains } from './held-chains.ts'
import type { Metrics } from './metrics.ts'
import type { Recorder } from './record/recorder.ts'
import type { ServeSection } from './settings.ts'
import { Slots } from './slots.ts'
import type { Trace } from './trace.ts'
import { type ServedTokens, sumOf, tokensOf } from './usage.ts'

/** Chooses among chains. */
export interface Picker {
  assertFits(grammar: Grammar): void
  pick(from: Required<JudgedQuestion>, signal: AbortSignal): Promise<Choice>
}

export interface ServiceParts {
  serve: ServeSection
  policy: Policy
  /** For questions without requests of their own: its grammar is what the model was trained on. */
  world: World
  grammar: Grammar
  settings: RolloutSettings
  /** What the tools need to know about every question. */
  meta: Task['meta']
  pickerOf: (how: PickBy) => Promise<Picker>
  metrics: Metrics
  /** Called with each chain that has ended. */
  onRollout?: (rollout: Rollout, task: Task) => void
  /** Stores chains, unless a request says not to. */
  recorder?: Recorder | undefined
}

/** What came of one of a request's chains. */
export interface Reply {
  turn: ChainTurn
  functions: readonly ClientFunction[]
  /** Of the chains that were sampled to choose this one, all tokens. */
  tokens: ServedTokens
  choice?: Choice & { candidates: (string | undefined)[] }
}

/** A request that has been checked and can begin. */
export interface Prepared {
  /** Of its reply. Each turn of a chain is a reply. */
  id: string
  run(listenerOf: (index: number) => StepListener, signal: AbortSignal, trace: Trace): Promise<Reply[]>
}

interface Held {
  chain: Chain
  functions: readonly ClientFunction[]
}

/** Minimum free tokens of the context for a chain to begin. */
const LEAST_ROOM = 16
/** Characters per token, at most, on average. */
const MOST_CHARACTERS = 32

const pickers: Record<PickName, PickBy> = { majority: 'majority', score: 'verifier', judge: 'judge' }

/** A model with its world, asked by many clients at once. */
export class Service {
  readonly parts: ServiceParts
  readonly slots: Slots
  readonly held: HeldChains<Held>
  readonly #grammars: GrammarVariants

  constructor(parts: ServiceParts) {
    const { chains, queue, held, hold_s } = parts.serve
    this.parts = parts
    this.slots = new Slots(chains, queue)
    this.held = new HeldChains(held, hold_s)
    this.#grammars = new GrammarVariants(parts.grammar, parts.settings.react === true)
  }

  /** Checks a request. Whatever is wrong with it is thrown here, before anything is sent to the client. */
  async prepare(ask: Ask): Promise<Prepared> {
    const chains = ask.count * ask.bestOf
    const { max_samples: most } = this.parts.serve
    if (chains > most)
      throw new ApiError(
        400,
        `${chains} chains are asked for, but this server samples at most ${most} per request`,
      )
    const settings = this.#settingsOf(ask)
    if (ask.bestOf > 1 && settings.temperature === 0)
      throw new ApiError(400, 'at temperature 0, all answers would be the same: leave out best_of')
    const grammar = this.#grammars.of(ask)
    this.#assertFits(grammar, ask.question)
    const picker = ask.bestOf > 1 ? await this.parts.pickerOf(pickers[ask.pick]) : undefined
    picker?.assertFits(grammar)
    this.slots.assertRoom(chains)
    const id = randomUUID().replaceAll('-', '')
    const task: Task = {
      v: 1,
      id,
      suite: 'serve',
      domain: grammar.name,
      question: ask.question,
      gold: { checker: 'none' },
      meta: this.parts.meta,
    }
    const seed = ask.seed ?? randomInt(2 ** 32)
    const chainOf = (number: number, trace: Trace): Chain =>
      this.#chain(
        { task, id: `${id}#${number}`, groupId: id, seed: seedOf(seed, 'solve', number) },
        grammar,
        settings,
        ask,
        trace,
      )
    const functions = ask.functions ?? []
    return {
      id,
      run: async (listenerOf, signal, trace) => {
        if (picker === undefined)
          return together(ask.count, signal, async (index, until) => {
            const chain = chainOf(index, trace)
            return this.#reply(chain, await this.#turn(chain, listenerOf(index), until), functions)
          })
        return [
          await this.#best(ask, grammar, picker, (number) => chainOf(number, trace), listenerOf(0), signal),
        ]
      },
    }
  }

  /** Continues a chain with the client's result of its tool call. */
  resume({ call, output }: CallResult): Prepared {
    this.slots.assertRoom(1)
    const { chain, functions } = this.held.take(call)
    return {
      id: `${chain.job.task.id}_${chain.turns}`,
      run: async (listenerOf, signal) => [
        this.#reply(chain, await this.#turn(chain, listenerOf(0), signal, output), functions),
      ],
    }
  }

  async #turn(
    chain: Chain,
    listener: StepListener | undefined,
    signal: AbortSignal,
    output?: string,
  ): Promise<ChainTurn> {
    const { metrics } = this.parts
    const turn = await this.slots
      .run(() => chain.turn(listener, signal, output), signal)
      .catch((error: unknown) => {
        // If it waited for a slot, it has not heard of the signal.
        chain.stop(error)
        metrics.chainEnded(signal.aborted ? 'disconnected' : 'failed')
        throw error
      })
    metrics.tokens(turn.tokens)
    const { rollout } = turn
    if (rollout === undefined) return turn
    metrics.chainEnded(rollout.stop)
    if (rollout.stop === 'failed' && rollout.failure !== undefined) throw chainFailed(rollout.failure)
    return turn
  }

  #reply(chain: Chain, turn: ChainTurn, functions: readonly ClientFunction[]): Reply {
    if (turn.call !== undefined) this.held.hold(turn.call.id, { chain, functions })
    return { turn, functions, tokens: turn.tokens }
  }

  /** Nothing can be shown before one is chosen. A chain that failed is not a candidate, unless all have. */
  async #best(
    ask: Ask,
    grammar: Grammar,
    picker: Picker,
    chainOf: (number: number) => Chain,
    listener: StepListener,
    signal: AbortSignal,
  ): Promise<Reply> {
    const settled = await Promise.allSettled(
      Array.from({ length: ask.bestOf }, (_, number) => this.#turn(chainOf(number), undefined, signal)),
    )
    signal.throwIfAborted()
    const turns = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const [first] = turns
    if (first === undefined) throw (settled[0] as PromiseRejectedResult).reason
    const candidates = turns.map(({ rollout }) => rollout!)
    const choice = await picker.pick({ question: ask.question, candidates, grammar }, signal)
    const turn = turns[choice.chosen ?? 0]!
    if (ask.unrecorded !== true) this.parts.recorder?.choose(turn.rollout!.id)
    replay(turn.steps, listener)
    return {
      turn,
      functions: [],
      tokens: sumOf(turns.map(({ tokens }) => tokens)),
      choice: { ...choice, candidates: candidates.map(({ answer }) => answer) },
    }
  }

  #chain(
    job: Omit<RolloutJob, 'unchecked'>,
    grammar: Grammar,
    settings: RolloutSettings,
    { functions, question, unrecorded = false }: Ask,
    trace: Trace,
  ): Chain {
    const { world, policy, metrics, onRollout, recorder } = this.parts
    const { temperature, topP, maxSampled, maxTurns } = settings
    return new Chain({
      job: { ...job, unchecked: true },
      policy: trace.ofPolicy(policy),
      world,
      grammar,
      settings,
      ...(functions === undefined ? {} : { clientTools: functions.map(({ name }) => name) }),
      newCallId: () => `call_${randomUUID().replaceAll('-', '')}`,
      onCalled: (call) => {
        // Clients may offer any number of functions, and each name would be kept.
        metrics.called(functions === undefined ? call : { ...call, agent: 'client' })
        trace.called(call)
      },
      onRollout: (rollout) => {
        onRollout?.(rollout, job.task)
        if (unrecorded || recorder === undefined) return
        const isStored = recorder.add(rollout, {
          question,
          sampling: { temperature, topP, maxTurns, ...(maxSampled === undefined ? {} : { maxSampled }) },
          tokens: tokensOf(rollout),
        })
        metrics.recorded(isStored)
      },
    })
  }

  #settingsOf({ temperature, topP, maxSampled, maxCalls, functions }: Ask): RolloutSettings {
    // The grammar is that of the ReAct style already.
    const { react: _, ...settings } = this.parts.settings
    const turns = Math.min(settings.maxTurns, maxCalls ?? settings.maxTurns)
    return {
      ...settings,
      ...(temperature === undefined ? {} : { temperature }),
      ...(topP === undefined ? {} : { topP }),
      ...(maxSampled === undefined ? {} : { maxSampled }),
      maxTurns: turns,
      // The client's time does not count.
      maxSeconds: settings.maxSeconds + (functions === undefined ? 0 : turns * this.parts.serve.hold_s),
    }
  }

  #assertFits(grammar: Grammar, question: string): void {
    const { engine, tokenizer } = this.parts.policy
    const { contextLength } = engine.describe()
    // Encoding takes time, and no tokenizer packs so much into a token.
    if (question.length > contextLength * MOST_CHARACTERS)
      throw tooLong(`the prompt has ${question.length} characters`, contextLength)
    const length = encodePrompt(tokenizer, buildPrompt(grammar, question)).length
    if (length + LEAST_ROOM <= contextLength) return
    throw tooLong(`the prompt has ${length} tokens`, contextLength)
  }
}

/** Runs several chains at once. If one fails, the request does, and the others stop. */
async function together<T>(
  count: number,
  signal: AbortSignal,
  run: (index: number, until: AbortSignal) => Promise<T>,
): Promise<T[]> {
  const stopping = new AbortController()
  const until = AbortSignal.any([signal, stopping.signal])
  try {
    return await Promise.all(Array.from({ length: count }, (_, index) => run(index, until)))
  } catch (error) {
    stopping.abort(error)
    throw error
  }
}

function tooLong(what: string, contextLength: number): ApiError {
  return new ApiError(400, `${what}, but the context of the model has only ${contextLength} tokens`, {
    code: 'context_length_exceeded',
    param: 'messages',
  })
}

function replay(steps: readonly Step[], listener: StepListener): void {
  for (const step of steps) {
    listener.opened(step)
    listener.text(step, step.text)
    listener.closed(step)
  }
}
