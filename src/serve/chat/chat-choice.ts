import type { Step, StepListener } from '../../agent/index.ts'
import { argumentsOf } from '../functions.ts'
import { ReasoningText } from '../reasoning-text.ts'
import { factsOf, type ReplyFacts } from '../reply-facts.ts'
import type { Reply } from '../service.ts'
import { StopText } from '../stop-text.ts'

type FinishReason = 'stop' | 'length' | 'tool_calls'

interface ToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

export interface Delta {
  role?: 'assistant'
  content?: string | null
  reasoning_content?: string
  tool_calls?: (ToolCall & { index: number })[]
  /** Which step of the chain this and the following deltas belong to. */
  coa?: Pick<Step, 'agent' | 'kind' | 'outcome' | 'ms'>
}

export interface ChatChoice {
  message: {
    role: 'assistant'
    content: string | null
    refusal: null
    reasoning_content?: string
    tool_calls?: ToolCall[]
  }
  finish: FinishReason
  facts: ReplyFacts
}

/** One choice of a chat completion while its chain is written: roles, calls and results as reasoning, the answer as content. */
export class ChoiceWriter implements StepListener {
  readonly #send: (delta: Delta) => void
  readonly #reasoningText = new ReasoningText()
  readonly #stop: StopText
  #content = ''
  #reasoning = ''

  constructor(stop: readonly string[], send: (delta: Delta) => void) {
    this.#stop = new StopText(stop)
    this.#send = send
  }

  opened(step: Step): void {
    const { agent, kind, outcome, ms } = step
    const coa = {
      agent,
      kind,
      ...(outcome === undefined ? {} : { outcome }),
      ...(ms === undefined ? {} : { ms }),
    }
    if (kind === 'answer') this.#send({ coa, content: '' })
    else this.#reason(this.#reasoningText.opened(step), coa)
  }

  text(step: Step, text: string): void {
    if (step.kind === 'answer') this.#answer(this.#stop.push(text))
    else this.#reason(this.#reasoningText.text(step, text))
  }

  closed(step: Step): void {
    if (step.kind !== 'answer') this.#reason(this.#reasoningText.closed(step))
  }

  /** The last delta but for the finish reason, and the whole choice. */
  finish(reply: Reply): ChatChoice {
    this.#answer(this.#stop.finish())
    const { call, rollout } = reply.turn
    const calls: ToolCall[] =
      call === undefined
        ? []
        : [
            {
              id: call.id,
              type: 'function',
              function: {
                name: call.tool,
                arguments: JSON.stringify(
                  argumentsOf(
                    call.payload,
                    reply.functions.find(({ name }) => name === call.tool)?.parameters,
                  ),
                ),
              },
            },
          ]
    if (calls.length > 0) this.#send({ tool_calls: calls.map((one, index) => ({ index, ...one })) })
    const isWhole = rollout?.stop === 'answer' || rollout?.stop === 'end'
    return {
      message: {
        role: 'assistant',
        content: calls.length > 0 && this.#content === '' ? null : this.#content,
        refusal: null,
        ...(this.#reasoning === '' ? {} : { reasoning_content: this.#reasoning }),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      },
      finish: calls.length > 0 ? 'tool_calls' : isWhole || this.#stop.stopped ? 'stop' : 'length',
      facts: factsOf(reply),
    }
  }

  #answer(text: string): void {
    if (text === '') return
    this.#content += text
    this.#send({ content: text })
  }

  #reason(text: string, coa?: Delta['coa']): void {
    if (text === '' && coa === undefined) return
    this.#reasoning += text
    this.#send({ reasoning_content: text, ...(coa === undefined ? {} : { coa }) })
  }
}
