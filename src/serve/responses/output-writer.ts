import type { Step, StepListener } from '../../agent/index.ts'
import { STRAY } from '../../language/grammar/index.ts'
import { argumentsOf } from '../functions.ts'
import { noAnswer } from '../reply-facts.ts'
import type { Reply } from '../service.ts'
import { type CallItem, callItem, newId, type OutputItem } from './output-items.ts'

type Emit = (type: string, fields: Record<string, unknown>) => void

interface Reasoning {
  id: string
  summary: { type: 'summary_text'; text: string }[]
}

/**
 * The output items of a response while its chain is written: roles as summaries of reasoning, calls as items of built-in tools,
 * the answer as a message.
 */
export class OutputWriter implements StepListener {
  readonly items: OutputItem[] = []
  /** The text of the message. */
  answer = ''
  readonly #emit: Emit
  readonly #clientTools: boolean
  #reasoning: Reasoning | undefined
  #partIsOpen = false
  #call: CallItem | undefined
  #message: string | undefined

  constructor(clientTools: boolean, emit: Emit) {
    this.#clientTools = clientTools
    this.#emit = emit
  }

  opened({ agent, kind }: Step): void {
    if (kind === 'answer') this.#openMessage()
    else if (kind === 'role') this.#openPart(agent === STRAY ? '' : `**${agent}**\n\n`)
  }

  text({ kind }: Step, text: string): void {
    if (kind === 'answer') this.#write(text)
    else if (kind === 'role') this.#think(text)
  }

  closed(step: Step): void {
    if (step.kind === 'role') this.#closePart()
    else if (step.kind === 'answer') this.#closeMessage('completed')
    else if (step.kind === 'observation') this.#closeCall(step)
    // A function is known once the client is to call it.
    else if (!this.#clientTools) this.#openCall(step)
  }

  /** Completes what the chain has left open. */
  finish({ turn: { call, rollout }, functions }: Reply): void {
    this.#closePart()
    this.#closeReasoning()
    this.#closeCall(undefined)
    this.#closeMessage('incomplete')
    if (call !== undefined) {
      const { parameters } = functions.find(({ name }) => name === call.tool) ?? {}
      this.#function(call.id, call.tool, JSON.stringify(argumentsOf(call.payload, parameters)))
    } else if (this.answer === '' && rollout !== undefined) {
      this.#openMessage()
      this.#write(noAnswer(rollout.stop))
      this.#closeMessage('completed')
    }
  }

  #openPart(title: string): void {
    if (this.#reasoning === undefined) {
      this.#reasoning = { id: newId('rs'), summary: [] }
      this.#added({ type: 'reasoning', ...this.#reasoning, summary: [] })
    }
    this.#reasoning.summary.push({ type: 'summary_text', text: '' })
    this.#summary('part.added', { part: { type: 'summary_text', text: '' } })
    this.#think(title)
  }

  #think(text: string): void {
    const part = this.#reasoning?.summary.at(-1)
    if (part === undefined || text === '') return
    part.text += text
    this.#summary('text.delta', { delta: text })
  }

  #closePart(): void {
    const part = this.#reasoning?.summary.at(-1)
    if (part === undefined || !this.#partIsOpen) return
    this.#summary('text.done', { text: part.text })
    this.#summary('part.done', { part })
  }

  #summary(event: string, fields: Record<string, unknown>): void {
    this.#partIsOpen = event !== 'part.done'
    const { id, summary } = this.#reasoning!
    this.#emit(`response.reasoning_summary_${event}`, {
      item_id: id,
      output_index: this.items.length,
      summary_index: summary.length - 1,
      ...fields,
    })
  }

  #closeReasoning(): void {
    if (this.#reasoning === undefined) return
    this.#closePart()
    const item = { type: 'reasoning', ...this.#reasoning }
    this.#reasoning = undefined
    this.#done(item)
  }

  #openCall(step: Step): void {
    this.#closeReasoning()
    this.#call = callItem(step)
    const { item, begun } = this.#call
    this.#added(item)
    for (const [event, fields] of begun) this.#ofItem(event, item.id, fields)
  }

  #closeCall(result: Step | undefined): void {
    const call = this.#call
    if (call === undefined) return
    this.#call = undefined
    const { item, events } = call.done(result)
    for (const event of events) this.#ofItem(event, item.id, {})
    this.#done(item)
  }

  #function(callId: string, name: string, given: string): void {
    const item = { id: newId('fc'), type: 'function_call', call_id: callId, name }
    this.#added({ ...item, arguments: '', status: 'in_progress' })
    this.#ofItem('response.function_call_arguments.delta', item.id, { delta: given })
    this.#ofItem('response.function_call_arguments.done', item.id, { name, arguments: given })
    this.#done({ ...item, arguments: given, status: 'completed' })
  }

  #openMessage(): void {
    this.#closeReasoning()
    this.#closeCall(undefined)
    const id = newId('msg')
    this.#message = id
    this.#added({ id, type: 'message', role: 'assistant', content: [], status: 'in_progress' })
    this.#ofItem('response.content_part.added', id, { content_index: 0, part: textPart('') })
  }

  #write(text: string): void {
    if (this.#message === undefined || text === '') return
    this.answer += text
    this.#ofItem('response.output_text.delta', this.#message, { content_index: 0, delta: text, logprobs: [] })
  }

  #closeMessage(status: 'completed' | 'incomplete'): void {
    const id = this.#message
    if (id === undefined) return
    this.#message = undefined
    const part = textPart(this.answer)
    this.#ofItem('response.output_text.done', id, { content_index: 0, text: part.text, logprobs: [] })
    this.#ofItem('response.content_part.done', id, { content_index: 0, part })
    this.#done({ id, type: 'message', role: 'assistant', content: [part], status })
  }

  #added(item: OutputItem): void {
    this.#emit('response.output_item.added', { output_index: this.items.length, item })
  }

  #done(item: OutputItem): void {
    this.#emit('response.output_item.done', { output_index: this.items.length, item })
    this.items.push(item)
  }

  #ofItem(type: string, id: string, fields: Record<string, unknown>): void {
    this.#emit(type, { item_id: id, output_index: this.items.length, ...fields })
  }
}

function textPart(text: string): { type: 'output_text'; text: string; annotations: []; logprobs: [] } {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}
