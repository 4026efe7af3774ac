import { digestOf, sha256 } from '../../../base/digests/index.ts'
import type { ModelAnswer, ModelRequest } from '../../../logs/index.ts'
import { agentNameIn, type ChatTurn, turnKey } from '../../../logs/index.ts'

/** What the request says about itself, in its path or headers. */
export interface Named {
  run?: string | undefined
  agent?: string | undefined
}

export interface Place {
  run: string
  agent: string
}

/** Shorter texts occur in conversations that have nothing to do with each other. */
const SHORTEST_QUOTE = 20
/** How many texts of a run are kept to find quotes of them. */
const KEPT_TEXTS = 12
/** How many open runs are compared with a new conversation. */
const RECENT_RUNS = 100

interface OpenRun {
  id: string
  question: string
  /** By system prompt and tools. */
  agents: Map<string, string>
  /** The beginnings of conversations: agent and first messages. */
  begun: Set<string>
  /** What was said lately and other agents may have been given. */
  texts: string[]
  prefixes: Set<string>
  touched: number
}

/**
 * Which run and agent a request belongs to. What it says itself counts. Otherwise, it belongs to the run with the longest
 * conversation that it continues, to one that it quotes, or to a new one.
 */
export class Conversations {
  readonly #runs = new Map<string, OpenRun>()
  /** Runs and agents by digests of conversations, from the first message to each later one. */
  readonly #prefixes = new Map<string, Place[]>()
  readonly #responses = new Map<string, Place>()
  /** Digests of whole conversations, of which answers are continuations: long ones are digested only once. */
  readonly #ends = new WeakMap<ModelRequest, string>()
  readonly #newId: () => string
  #clock = 0

  constructor(newId: () => string) {
    this.#newId = newId
  }

  place(request: ModelRequest, named: Named): Place {
    const beginning = digestOf(request.system)
    const chain = chainOf(beginning, request.turns)
    this.#ends.set(request, chain.at(-1) ?? beginning)
    const key = agentKey(request)
    const begun = isNew(request) ? digestOf(key, chain) : undefined
    const continued = this.#continued(request, chain, named.run)
    const found = named.run ?? continued?.run ?? this.#related(request, begun)
    const run = this.#open(found ?? this.#newId(), request)
    const agent = named.agent ?? continued?.agent ?? run.agents.get(key) ?? unusedName(run, request)
    if (!run.agents.has(key)) run.agents.set(key, agent)
    if (begun !== undefined) run.begun.add(begun)
    run.touched = ++this.#clock
    // The latest at the end.
    this.#runs.delete(run.id)
    this.#runs.set(run.id, run)
    const place = { run: run.id, agent }
    this.#remember(place, chain)
    return place
  }

  /** What the model answered: the next request repeats it. */
  answered(place: Place, request: ModelRequest, answer: ModelAnswer): void {
    const run = this.#runs.get(place.run)
    if (run === undefined) return
    this.#remember(place, chainOf(this.#ends.get(request) ?? '', answer.turns))
    if (answer.id !== undefined) this.#responses.set(answer.id, place)
    for (const { text, calls } of answer.turns) {
      run.texts.push(text.trim(), ...calls.flatMap(({ input }) => textsIn(input)))
      run.texts = run.texts.filter((one) => one.length >= SHORTEST_QUOTE).slice(-KEPT_TEXTS)
    }
  }

  /** The run is complete: no conversation continues it. */
  forget(id: string): void {
    const run = this.#runs.get(id)
    this.#runs.delete(id)
    for (const prefix of run?.prefixes ?? []) {
      const left = this.#prefixes.get(prefix)!.filter((place) => place.run !== id)
      if (left.length > 0) this.#prefixes.set(prefix, left)
      else this.#prefixes.delete(prefix)
    }
    for (const [response, place] of this.#responses) if (place.run === id) this.#responses.delete(response)
  }

  #open(id: string, request: ModelRequest): OpenRun {
    const known = this.#runs.get(id)
    if (known !== undefined) return known
    const run: OpenRun = {
      id,
      question: firstUser(request),
      agents: new Map(),
      begun: new Set(),
      texts: [],
      prefixes: new Set(),
      touched: 0,
    }
    this.#runs.set(id, run)
    return run
  }

  /** The place of the longest conversation that the request continues; in it, an assistant has spoken. */
  #continued(request: ModelRequest, chain: readonly string[], within: string | undefined): Place | undefined {
    const isWithin = ({ run }: Place): boolean => within === undefined || run === within
    const previous = this.#responses.get(request.previous ?? '')
    if (previous !== undefined && isWithin(previous)) return previous
    const begins = request.turns.findIndex(({ role }) => role !== 'user')
    for (let index = chain.length - 1; begins >= 0 && index >= begins; index--) {
      const places = (this.#prefixes.get(chain[index]!) ?? []).filter(isWithin)
      if (places.length > 0) return this.#latest(places, ({ run }) => run)
    }
    return undefined
  }

  /**
   * The run that a new conversation is a part of: one with the same question, or whose words it quotes. An agent that begins
   * the same conversation again works on another run.
   */
  #related(request: ModelRequest, begun: string | undefined): string | undefined {
    const question = firstUser(request)
    const asked = request.turns.map(({ text }) => text).join('\n')
    const candidates = [...this.#runs.values()].slice(-RECENT_RUNS).flatMap((run) => {
      if (question === '' || (begun !== undefined && run.begun.has(begun))) return []
      const quotes = run.texts.some((text) => asked.includes(text)) ? 2 : 0
      const asks =
        run.question === question ||
        (run.question.length >= SHORTEST_QUOTE && asked.includes(run.question.trim()))
      const score = quotes + (asks ? 1 : 0)
      return score === 0 ? [] : [{ run, score }]
    })
    const best = Math.max(...candidates.map(({ score }) => score))
    return this.#latest(
      candidates.filter(({ score }) => score === best),
      ({ run }) => run.id,
    )?.run.id
  }

  #latest<T>(all: readonly T[], runOf: (one: T) => string): T | undefined {
    const touched = (one: T): number => this.#runs.get(runOf(one))?.touched ?? 0
    return all.reduce<T | undefined>(
      (latest, one) => (latest === undefined || touched(one) >= touched(latest) ? one : latest),
      undefined,
    )
  }

  #remember(place: Place, chain: readonly string[]): void {
    const run = this.#runs.get(place.run)!
    for (const prefix of chain) {
      if (run.prefixes.has(prefix)) continue
      run.prefixes.add(prefix)
      const places = this.#prefixes.get(prefix)
      if (places === undefined) this.#prefixes.set(prefix, [place])
      else places.push(place)
    }
  }
}

/** A digest for each beginning of a conversation. */
function chainOf(beginning: string, turns: readonly ChatTurn[]): string[] {
  let digest = beginning
  return turns.map((turn) => {
    digest = sha256(`${digest} ${turnKey(turn)}`)
    return digest
  })
}

const agentKey = ({ system, tools }: ModelRequest): string =>
  digestOf(
    system,
    tools.map(({ name }) => name),
  )

/** Whether nobody has answered yet. */
const isNew = ({ turns }: ModelRequest): boolean => turns.every(({ role }) => role === 'user')

const firstUser = ({ turns }: ModelRequest): string => turns.find(({ role }) => role === 'user')?.text ?? ''

function unusedName({ agents }: OpenRun, { system }: ModelRequest): string {
  const name = agentNameIn(system)
  const taken = new Set(agents.values())
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}-${number}`
    if (!taken.has(candidate)) return candidate
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value.trim()]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
