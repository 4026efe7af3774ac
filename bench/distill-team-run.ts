/** Team runs with a manager that distill to sequences of about 2,000 tokens, including the prompt. */
import type { Contribution, Trajectory, TrajectoryEvent } from '../src/schema/index.ts'

const words =
  `the of and in to a is was for by on as with that from at it an were are which this first one new after two other when
during into school time years more city world later used state national known university made part people between season
team three general number including year war music group church line house south north area company family station century
work river history county system called became district water party public council found born government service death law
evidence suggests bridge completed engineers estimated kilometres archives reported museum orchestra conductor premiere
composition laboratory experiment measured temperature photosynthesis electromagnetic Zürich café 1872 1,954 “quoted”`.split(
    /\s+/,
  )

type EventInput = TrajectoryEvent extends infer Each
  ? Each extends TrajectoryEvent
    ? Omit<Each, 'id' | 't'>
    : never
  : never

class Writer {
  readonly events: TrajectoryEvent[] = []
  #state: number

  constructor(seed: number) {
    this.#state = seed * 7919 + 1
  }

  text(sentences: number): string {
    return Array.from({ length: sentences }, () => {
      const length = 8 + (this.#next() % 12)
      return `${Array.from({ length }, () => words[this.#next() % words.length]!).join(' ')}.`
    }).join(' ')
  }

  #next(): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0
    return this.#state >>> 8
  }

  add(event: EventInput): string {
    const id = `e${this.events.length + 1}`
    this.events.push({ ...event, id, t: this.events.length * 3 } as TrajectoryEvent)
    return id
  }

  say(agent: string, parent: string | null, as: Contribution, text: string): string {
    const messages = [{ role: 'user', content: 'go on' }]
    const activated = this.add({ type: 'activated', agent, parent, messages })
    const thought = this.text(2)
    return this.add({
      type: 'wrote',
      agent,
      parent: activated,
      text: thought + text,
      thought,
      said: { as, text },
    })
  }

  send(from: string, to: string, text: string, parent: string): string {
    return this.add({ type: 'sent', agent: from, to, text, parent, forwards: parent })
  }
}

export function teamRun(seed: number): Trajectory {
  const writer = new Writer(seed)
  let cause = writer.say('manager', null, 'plan', writer.text(3))
  for (let round = 0; round < 4; round++) {
    const order = writer.text(1)
    const task = writer.say('manager', cause, 'task', order)
    const query = writer.text(1)
    const call = writer.say('searcher', writer.send('manager', 'searcher', order, task), 'call', query)
    const input = { syntax: 'text', text: query }
    const called = writer.add({
      type: 'tool-called',
      agent: 'searcher',
      parent: call,
      tool: 'web_search',
      input,
    })
    const output = Array.from(
      { length: 3 },
      (_, rank) => `${rank + 1}. https://example.org/${seed}\n${writer.text(3)}`,
    )
    const answered = writer.add({
      type: 'tool-answered',
      agent: 'searcher',
      parent: called,
      tool: 'web_search',
      output: output.join('\n\n'),
      ok: true,
    })
    const findings = writer.text(1)
    const report = writer.say('searcher', answered, 'report', findings)
    cause = writer.send('searcher', 'manager', findings, report)
    if (round === 2) cause = writer.say('critic', cause, 'reflection', writer.text(2))
  }
  const suggestion = writer.say('manager', cause, 'suggestion', 'Zürich')
  const check = writer.say('verifier', suggestion, 'check', `${writer.text(1)} Score: 4`)
  const answer = writer.say('manager', check, 'answer', 'Zürich')
  writer.add({ type: 'answered', agent: 'manager', parent: answer, text: 'Zürich' })
  return {
    v: 1,
    id: `run-${seed}`,
    taskId: `task-${seed}`,
    team: 'manager',
    question: writer.text(1),
    events: writer.events,
    answer: 'Zürich',
    verdict: { outcome: 'correct', checker: 'text', evidence: 'equal' },
    meta: { suite: 'search', domain: 'web', topology: 'manager', level: 2 },
  }
}
