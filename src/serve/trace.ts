import { randomBytes } from 'node:crypto'
import type { Policy } from '../agent/index.ts'
import type { Rollout } from '../schema/index.ts'
import type { Attributes, SpanExporter } from './span-exporter.ts'

/** Kinds of spans in OpenTelemetry. */
const INTERNAL = 1
const SERVER = 2

/** The header by which a client says which of its spans a request belongs to. */
const PARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/

/** The spans of one request, named by the conventions for generative AI. They do not contain what was said. */
export class Trace {
  readonly #exporter: SpanExporter | undefined
  readonly #model: string
  readonly #begun = Date.now()
  readonly #trace: string
  readonly #parent: string | undefined
  readonly #root = randomBytes(8).toString('hex')

  constructor(exporter: SpanExporter | undefined, model: string, parent?: string) {
    const [, trace, span] = PARENT.exec(parent ?? '') ?? []
    this.#exporter = exporter
    this.#model = model
    this.#trace = trace ?? randomBytes(16).toString('hex')
    this.#parent = span
  }

  /** A policy whose sampling shows as spans. */
  ofPolicy(policy: Policy): Policy {
    if (this.#exporter === undefined) return policy
    const { engine } = policy
    return {
      ...policy,
      engine: {
        describe: () => engine.describe(),
        sample: async (request) => {
          const begun = Date.now()
          const samples = await engine.sample(request)
          this.#add(`chat ${this.#model}`, begun, {
            'gen_ai.operation.name': 'chat',
            'gen_ai.provider.name': 'coa',
            'gen_ai.request.model': this.#model,
            'gen_ai.request.temperature': request.temperature ?? 1,
            'gen_ai.usage.input_tokens': request.prompt.length,
            'gen_ai.usage.output_tokens': samples.reduce((sum, { tokens }) => sum + tokens.length, 0),
          })
          return samples
        },
      },
    }
  }

  called({ agent, outcome, ms }: Rollout['calls'][number]): void {
    this.#add(`execute_tool ${agent}`, Date.now() - ms, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': agent,
      'gen_ai.tool.type': 'function',
      ...(outcome === 'ok' ? {} : { 'error.type': outcome }),
    })
  }

  end(attributes: Attributes): void {
    this.#exporter?.add({
      traceId: this.#trace,
      spanId: this.#root,
      ...(this.#parent === undefined ? {} : { parentSpanId: this.#parent }),
      name: `invoke_agent ${this.#model}`,
      kind: SERVER,
      begun: this.#begun,
      ended: Date.now(),
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.provider.name': 'coa',
        'gen_ai.agent.name': this.#model,
        'gen_ai.request.model': this.#model,
        ...attributes,
      },
    })
  }

  #add(name: string, begun: number, attributes: Attributes): void {
    this.#exporter?.add({
      traceId: this.#trace,
      spanId: randomBytes(8).toString('hex'),
      parentSpanId: this.#root,
      name,
      kind: INTERNAL,
      begun,
      ended: Date.now(),
      attributes,
    })
  }
}
