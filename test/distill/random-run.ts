import fc from 'fast-check'
import type { Grammar, Payload } from '../../src/language/grammar/index.ts'
import type { Contribution, Trajectory, TrajectoryEvent } from '../../src/schema/index.ts'
import { grammarsWithEveryPayload } from '../grammar/visual-inspector.ts'

type EventInput = TrajectoryEvent extends infer Each
  ? Each extends TrajectoryEvent
    ? Omit<Each, 'id' | 't'>
    : never
  : never

/** Occurs in the final answer and in nothing said before the step that found it. */
export const ANSWER = 'ANSWERMARK'

export interface RandomRun {
  grammar: Grammar
  trajectory: Trajectory
  /** The events that state the answer without having seen it. */
  finders: string[]
}

/** Pieces without white space or periods, so that the tests can split sentences in a simple way. */
const nasty = [
  '</think>',
  '<think>',
  '<web_search>',
  '</observation>',
  '<answer>',
  '<\\/think>',
  '```',
  '|',
  '{',
  '\ud83d',
  '漢',
  '<|im_end|>',
]

/** A random team run, driven by a list of choices. Every sentence has a unique number unless it is a repetition. */
class Simulation {
  readonly events: TrajectoryEvent[] = []
  readonly finders: string[] = []
  readonly #choices: readonly number[]
  readonly #grammar: Grammar
  readonly #spoken: string[] = []
  #at = 0
  #t = 0
  #sentence = 0

  constructor(grammar: Grammar, choices: readonly number[]) {
    this.#grammar = grammar
    this.#choices = choices
  }

  pick(count: number): number {
    const choice = this.#choices[this.#at++ % this.#choices.length] ?? 0
    // The list is used cyclically; the step count makes the rounds differ.
    return (choice + Math.floor(this.#at / this.#choices.length) * 7) % count
  }

  chance(oneIn: number): boolean {
    return this.pick(oneIn) === oneIn - 1
  }

  add(event: EventInput): string {
    const id = `e${this.events.length + 1}`
    // Timestamps may be equal, as on a fast machine.
    this.#t += this.pick(3)
    this.events.push({ ...event, id, t: this.#t } as TrajectoryEvent)
    return id
  }

  text(): string {
    const made = Array.from({ length: 1 + this.pick(2) }, () => {
      if (this.#spoken.length > 0 && this.chance(6)) return this.#spoken[this.pick(this.#spoken.length)]!
      const spice = this.chance(4) ? ` ${nasty[this.pick(nasty.length)]}` : ''
      const sentence = `Sentence number ${++this.#sentence}${spice} was said here.`
      this.#spoken.push(sentence)
      return sentence
    })
    return made.join(this.chance(2) ? '\n' : ' ')
  }

  /** An activation and its results, with occasional retries, bad replies and prompts with the gold answer. */
  write(agent: string, cause: string | null, as: Contribution, words: string, thought = this.text()): string {
    const messages = [{ role: 'user', content: 'go on' }]
    let activated = this.add({
      type: 'activated',
      agent,
      parent: cause,
      messages,
      ...(this.chance(20) ? { sawGold: true } : {}),
    })
    if (this.chance(10)) {
      const failed = this.add({
        type: 'failed',
        agent,
        parent: activated,
        boundary: 'model',
        message: 'no answer FAILMARK',
      })
      activated = this.add({ type: 'activated', agent, parent: failed, messages })
    }
    if (this.chance(10)) {
      const bad = this.add({ type: 'wrote', agent, parent: activated, text: 'BADMARK gibberish' })
      activated = this.add({ type: 'activated', agent, parent: bad, messages })
    }
    const said = { as, text: words }
    const spoken = this.chance(8) ? '' : thought
    return this.add({
      type: 'wrote',
      agent,
      parent: activated,
      text: `<think>${spoken}</think>${words}`,
      thought: spoken,
      said,
    })
  }

  send(from: string, to: string, text: string, parent: string, forwards?: string): string {
    return this.add({
      type: 'sent',
      agent: from,
      to,
      text,
      parent,
      ...(forwards === undefined ? {} : { forwards }),
    })
  }

  payload(): { tool: string; input: Payload } {
    const tools = [...this.#grammar.agents.values()].filter(({ kind }) => kind === 'tool')
    const { name, payload } = tools[this.pick(tools.length)]!
    const words = `input ${++this.#sentence}`
    if (payload.syntax === 'text') return { tool: name, input: { syntax: 'text', text: words } }
    if (payload.syntax === 'list')
      return { tool: name, input: { syntax: 'list', items: [words, `${words}|b`] } }
    if (payload.syntax === 'code')
      return { tool: name, input: { syntax: 'code', language: 'py', code: `print("${words}")\n# </code>` } }
    return { tool: name, input: { syntax: 'json', value: { file_path: words } } }
  }

  /** One solver's work; it yields after every event so that others can interleave. */
  *solver(name: string, start: string): Generator<string, string> {
    let cause = start
    for (let rounds = this.pick(4); rounds >= 0; rounds--) {
      const order = this.text()
      cause = this.write(name, cause, 'task', order)
      yield cause
      const { tool, input } = this.payload()
      const worker = `${name}_${tool}`
      const sent = this.send(name, worker, order, cause)
      yield sent
      const called = this.write(worker, sent, 'call', 'the words of the call')
      yield called
      cause = called
      for (let calls = this.chance(6) ? 2 : 1; calls > 0; calls--) {
        const call = this.add({
          type: 'tool-called',
          agent: worker,
          parent: called,
          tool,
          input: input as never,
        })
        yield call
        const fate = this.pick(8)
        if (fate === 7) continue
        cause =
          fate === 6
            ? this.add({
                type: 'failed',
                agent: worker,
                parent: call,
                boundary: 'tool',
                message: `Broken ${++this.#sentence}.`,
              })
            : this.add({
                type: 'tool-answered',
                agent: worker,
                parent: call,
                tool,
                output: this.text(),
                ok: fate !== 5,
              })
        yield cause
      }
      const findings = this.text()
      const report = this.write(worker, cause, 'report', findings)
      yield report
      cause = this.send(worker, name, findings, report)
      if (this.chance(3)) {
        const view = this.text()
        const critic = this.write('critic', cause, 'reflection', view)
        yield critic
        cause = this.send('critic', name, `The critic says: ${view}`, critic, critic)
      }
      if (this.chance(5)) cause = this.write(name, cause, this.chance(2) ? 'facts' : 'plan', this.text())
      yield cause
    }
    return cause
  }

  run(): void {
    let start = this.write('planner', null, this.chance(4) ? 'facts' : 'plan', this.text())
    if (this.chance(3)) start = this.write('planner', start, 'plan', this.text())
    const names = this.chance(2) ? ['solver_a', 'solver_b'] : ['solver_a']
    const branches = names.map((name) => ({ name, work: this.solver(name, start), end: '' }))
    let busy = [...branches]
    while (busy.length > 0) {
      const branch = busy[this.pick(busy.length)]!
      const { value, done } = branch.work.next()
      branch.end = value
      if (done) busy = busy.filter((other) => other !== branch)
    }
    let cause = ''
    for (const { name, end } of branches) {
      if (this.chance(3)) {
        cause = end
        continue
      }
      const isRight = this.chance(2)
      const text = isRight ? `${ANSWER} it is` : this.text()
      const suggestion = this.write(name, end, 'suggestion', text)
      if (isRight) this.finders.push(suggestion)
      const sent = this.send(name, 'judge', text, suggestion)
      // The judge waits for the last message.
      if (this.chance(2))
        cause = this.write('judge', sent, 'check', `${this.text()} Score: ${1 + this.pick(4)}`)
      else cause = sent
    }
    if (this.chance(8)) {
      this.add({ type: 'failed', agent: 'team', parent: cause, boundary: 'model', message: 'given up' })
      return
    }
    const parent = this.write('judge', cause, 'answer', `${ANSWER} it is`)
    this.finders.push(parent)
    this.add({ type: 'answered', agent: 'judge', parent, text: `${ANSWER} it is` })
  }
}

function describeRun(grammar: Grammar, events: readonly TrajectoryEvent[]): string {
  const lines = events.map((event) => {
    const { id, t, parent, agent, type, messages, ...rest } = event as TrajectoryEvent & {
      messages?: unknown
    }
    return `${t} ${id}<-${parent} ${agent} ${type} ${JSON.stringify(rest)}`
  })
  return `${grammar.name}\n${lines.join('\n')}\n`
}

/** A grammar for imported runs has no tools of its own. */
const grammars = grammarsWithEveryPayload.filter(({ agents }) =>
  [...agents.values()].some(({ kind }) => kind === 'tool'),
)

export const randomRun: fc.Arbitrary<RandomRun> = fc
  .tuple(fc.constantFrom(...grammars), fc.array(fc.nat(997), { minLength: 12, maxLength: 60 }))
  .map(([grammar, choices]) => {
    const simulation = new Simulation(grammar, choices)
    simulation.run()
    const trajectory: Trajectory = {
      v: 1,
      id: 'run',
      taskId: 'task',
      team: 'random',
      question: 'What is it?',
      events: simulation.events,
      answer: `${ANSWER} it is`,
      meta: { suite: 'random', topology: 'random', domain: grammar.name },
    }
    return {
      grammar,
      trajectory,
      finders: simulation.finders,
      [fc.toStringMethod]: () => describeRun(grammar, simulation.events),
    }
  })
