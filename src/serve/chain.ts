import { z } from 'zod'
import {
  ChainSteps,
  type Policy,
  type RolloutJob,
  type RolloutSettings,
  rollOut,
  type Step,
  type StepListener,
  type World,
} from '../agent/index.ts'
import type { Grammar, Payload } from '../language/grammar/index.ts'
import type { Rollout } from '../schema/index.ts'
import type { Tool } from '../world/tools/index.ts'
import { NO_TOKENS, type ServedTokens, since, tokensOf } from './usage.ts'

/** A tool call that the client is to make. */
export interface ClientCall {
  id: string
  tool: string
  payload: Payload
}

/** What a chain did until it ended, or until it needs the client. */
export interface ChainTurn {
  /** The whole chain's, once it has ended. */
  rollout?: Rollout
  /** What the client has to do for the chain to continue. */
  call?: ClientCall
  steps: readonly Step[]
  tokens: ServedTokens
}

export interface ChainParts {
  job: RolloutJob
  policy: Policy
  world: World
  grammar: Grammar
  settings: RolloutSettings
  /** The client makes the calls of these tools. */
  clientTools?: readonly string[]
  newCallId: () => string
  onCalled: (call: Rollout['calls'][number]) => void
  onRollout: (rollout: Rollout) => void
}

/**
 * A rollout that a client watches. It runs in turns: one, or, if the client makes the tool calls, one for each of them. Between
 * turns, the rollout waits within its tool call, so that the model continues the very tokens that it wrote.
 */
export class Chain {
  readonly #parts: ChainParts
  readonly #steps: ChainSteps
  readonly #stopping = new AbortController()
  #rollout: Promise<Rollout> | undefined
  #soFar: () => Pick<Rollout, 'promptTokens' | 'spans'> = () => ({ spans: [] })
  #counted = NO_TOKENS
  #shown = 0
  /** How many turns it has made. */
  turns = 0
  #handOver: (call: ClientCall) => void = () => {}
  #resume: (output: string) => void = () => {}

  constructor(parts: ChainParts) {
    this.#parts = parts
    this.#steps = new ChainSteps(parts.grammar)
  }

  get grammar(): Grammar {
    return this.#parts.grammar
  }

  get job(): RolloutJob {
    return this.#parts.job
  }

  /** Runs until the chain ends or needs the client. An aborted signal ends the chain. `output` is that of the last call. */
  async turn(listener: StepListener | undefined, signal: AbortSignal, output?: string): Promise<ChainTurn> {
    signal.throwIfAborted()
    const stop = (): void => this.stop(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    this.#steps.listener = listener
    const called = new Promise<ClientCall>((resolve) => {
      this.#handOver = resolve
    })
    try {
      if (output !== undefined) this.#resume(output)
      this.#rollout ??= this.#begin()
      const [rollout, call] = await Promise.race([
        this.#rollout.then((done) => [done, undefined] as const),
        called.then((made) => [undefined, made] as const),
      ])
      this.turns++
      if (rollout !== undefined) {
        this.#steps.end()
        this.#parts.onRollout(rollout)
      }
      return {
        ...(rollout === undefined ? { call } : { rollout }),
        steps: this.#newSteps(),
        tokens: this.#newTokens(rollout ?? this.#soFar()),
      }
    } finally {
      signal.removeEventListener('abort', stop)
      this.#steps.listener = undefined
    }
  }

  /** Ends the chain, also while it waits for the client. */
  stop(reason: unknown): void {
    this.#stopping.abort(reason)
  }

  #begin(): Promise<Rollout> {
    const { job, policy, world, settings, onCalled } = this.#parts
    const rollout = rollOut(job, policy, this.#worldOf(world), settings, {
      signal: this.#stopping.signal,
      onText: (text, from) => this.#steps.push(text, from),
      onCall: (soFar) => {
        this.#soFar = soFar
      },
      onCalled: (result) => {
        this.#steps.called(result)
        onCalled(result)
      },
    })
    // If it is stopped between turns, nobody waits for it.
    rollout.catch(() => {})
    return rollout
  }

  #worldOf(world: World): World {
    const { grammar, clientTools } = this.#parts
    const own = { ...world, grammarOf: async () => grammar }
    return clientTools === undefined
      ? own
      : { ...own, toolsOf: async () => clientTools.map((name) => this.#clientTool(name)) }
  }

  /** A tool whose output is what the client sends in its next request. */
  #clientTool(name: string): Tool {
    return {
      name,
      description: '',
      payload: { syntax: 'text' },
      input: z.unknown(),
      fromPayload: (payload) => payload,
      cacheable: false,
      ownTimeLimit: true,
      execute: (input) =>
        new Promise((resolve) => {
          this.#resume = (text) => resolve({ text })
          this.#handOver({ id: this.#parts.newCallId(), tool: name, payload: input as Payload })
        }),
    }
  }

  #newSteps(): Step[] {
    const steps = this.#steps.steps.slice(this.#shown)
    this.#shown = this.#steps.steps.length
    return steps
  }

  #newTokens(stream: Pick<Rollout, 'promptTokens' | 'spans'>): ServedTokens {
    const now = tokensOf(stream)
    const tokens = since(now, this.#counted)
    this.#counted = now
    return tokens
  }
}
