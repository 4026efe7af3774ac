import { ChainParser, type Grammar, type ParseEvent, type Payload, STRAY } from '../language/grammar/index.ts'
import type { Rollout, SpanKind } from '../schema/index.ts'
import { AnswerText } from './answer-text.ts'
import { answerText } from './tool-calls.ts'
import { TrimmedText } from './trimmed-text.ts'

/** One turn of a chain, without its tags. */
export interface Step {
  agent: string
  kind: SpanKind
  /** So far. */
  text: string
  /** Of a call that could be read. */
  payload?: Payload
  /** Of an observation: how the call went. */
  outcome?: Rollout['calls'][number]['outcome']
  ms?: number
}

/** Told of the steps of a chain while they are written. */
export interface StepListener {
  opened(step: Step): void
  text(step: Step, text: string): void
  closed(step: Step): void
}

/** Turns the text of a chain into steps, as it arrives. No tag, and no part of one, is passed on as text. */
export class ChainSteps {
  readonly steps: Step[] = []
  listener: StepListener | undefined
  readonly #grammar: Grammar
  readonly #parser: ChainParser
  #open: Step | undefined
  #text: TrimmedText | AnswerText = new TrimmedText()
  #from: 'model' | 'tool' = 'model'
  /** A call or the answer is complete: what the model has written beyond it is not part of the chain. */
  #isComplete = false
  #result: Rollout['calls'][number] | undefined

  constructor(grammar: Grammar, listener?: StepListener) {
    this.#grammar = grammar
    this.#parser = new ChainParser(grammar)
    this.listener = listener
  }

  push(text: string, from: 'model' | 'tool'): void {
    if (from === 'tool') this.#isComplete = false
    if (this.#isComplete) return
    this.#from = from
    this.#read(this.#parser.push(text))
  }

  /** How the call went whose output comes next. */
  called(result: Rollout['calls'][number]): void {
    this.#result = result
  }

  /** The chain has ended, perhaps within a step or within a tag, which is not passed on. */
  end(): void {
    this.#close()
  }

  #read(events: readonly ParseEvent[]): void {
    for (const event of events) {
      if (event.type === 'agent-opened') this.#begin(event.agent)
      else if (event.type === 'text' && !this.#isComplete) this.#write(event.agent, event.text)
      else if (event.type === 'call-ready') this.#open!.payload = event.call.payload
      else if (event.type === 'answer-ready') this.#finishAnswer(event.answer.payload)
      else if (event.type === 'agent-closed')
        this.#isComplete = ['tool', 'answer'].includes(this.#grammar.agents.get(event.agent)!.kind)
      // A call is closed after its payload is known, which is in the same batch.
      if (event.type === 'agent-closed' && !this.#isComplete) this.#close()
    }
    if (this.#isComplete) this.#close()
  }

  #begin(name: string): void {
    this.#close()
    const agent = this.#grammar.agents.get(name)!
    this.#text = agent.kind === 'answer' ? new AnswerText(agent) : new TrimmedText()
    this.#start({ agent: name, kind: this.#kindOf(agent.kind), text: '' })
  }

  #start(step: Step): void {
    if (step.kind === 'observation' && this.#result !== undefined) {
      step.outcome = this.#result.outcome
      step.ms = this.#result.ms
    }
    this.#open = step
    this.steps.push(step)
    this.listener?.opened(step)
  }

  /** An observation that the model wrote itself is not one. */
  #kindOf(kind: 'role' | 'tool' | 'observation' | 'answer'): SpanKind {
    if (kind === 'tool') return 'call'
    return kind === 'observation' && this.#from === 'model' ? 'role' : kind
  }

  #write(agent: string | null, text: string): void {
    if (agent === null && this.#open === undefined) {
      if (text.trim() === '') return
      this.#text = new TrimmedText()
      this.#start({ agent: STRAY, kind: 'role', text: '' })
    }
    this.#add(this.#text.push(text))
  }

  #finishAnswer(payload: Payload): void {
    if (this.#text instanceof AnswerText) this.#add(this.#text.finish(answerText(payload)))
  }

  #add(text: string): void {
    if (text === '') return
    const step = this.#open!
    step.text += text
    this.listener?.text(step, text)
  }

  #close(): void {
    const step = this.#open
    this.#open = undefined
    if (step !== undefined) this.listener?.closed(step)
  }
}
