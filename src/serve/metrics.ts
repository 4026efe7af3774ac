import type { Mark, Rollout } from '../schema/index.ts'
import type { ServedTokens } from './usage.ts'

/** Upper bounds of the histograms, in seconds. */
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]

interface Histogram {
  counts: number[]
  sum: number
  count: number
}

/** Values that are looked up when they are read. */
interface Gauges {
  running: () => number
  waiting: () => number
  held: () => number
}

/** What the server has done, in the text format of Prometheus. */
export class Metrics {
  readonly #counters = new Map<string, number>()
  readonly #histograms = new Map<string, Histogram>()

  request(endpoint: string, status: number, seconds: number): void {
    this.#add('coa_requests_total', { endpoint, status: String(status) })
    this.#observe('coa_request_seconds', { endpoint }, seconds)
  }

  firstToken(seconds: number): void {
    this.#observe('coa_time_to_first_token_seconds', {}, seconds)
  }

  chainEnded(stop: Rollout['stop'] | 'disconnected'): void {
    this.#add('coa_chains_total', { stop })
  }

  recorded(isStored: boolean): void {
    this.#add('coa_recorded_chains_total', { outcome: isStored ? 'stored' : 'failed' })
  }

  feedback(rating: Mark['rating']): void {
    this.#add('coa_feedback_total', { rating })
  }

  called({ agent, outcome, ms }: Rollout['calls'][number]): void {
    this.#add('coa_tool_calls_total', { tool: agent, outcome })
    this.#observe('coa_tool_call_seconds', { tool: agent }, ms / 1000)
  }

  tokens({ prompt, sampled, inserted, billed }: ServedTokens): void {
    for (const [kind, count] of Object.entries({ prompt, sampled, inserted }))
      this.#add('coa_tokens_total', { kind }, count)
    this.#add('coa_tokens_billed_total', {}, billed)
  }

  text(gauges: Gauges): string {
    const lines: string[] = []
    const families = new Set<string>()
    const head = (name: string, type: string): void => {
      if (!families.has(name)) lines.push(`# HELP ${name} ${help[name]}`, `# TYPE ${name} ${type}`)
      families.add(name)
    }
    for (const [key, value] of sorted(this.#counters)) {
      head(key.split('{')[0]!, 'counter')
      lines.push(`${key} ${value}`)
    }
    for (const [key, { counts, sum, count }] of sorted(this.#histograms)) {
      const [name, labels = ''] = key.split(/[{}]/) as [string, string?]
      head(name, 'histogram')
      const comma = labels === '' ? '' : ','
      let total = 0
      for (const [at, bound] of SECONDS.entries()) {
        total += counts[at]!
        lines.push(`${name}_bucket{${labels}${comma}le="${bound}"} ${total}`)
      }
      lines.push(`${name}_bucket{${labels}${comma}le="+Inf"} ${count}`)
      const suffix = labels === '' ? '' : `{${labels}}`
      lines.push(`${name}_sum${suffix} ${sum}`, `${name}_count${suffix} ${count}`)
    }
    const values = {
      coa_chains_running: gauges.running(),
      coa_chains_waiting: gauges.waiting(),
      coa_chains_held: gauges.held(),
      process_resident_memory_bytes: process.memoryUsage.rss(),
    }
    for (const [name, value] of Object.entries(values)) {
      head(name, 'gauge')
      lines.push(`${name} ${value}`)
    }
    return `${lines.join('\n')}\n`
  }

  #add(name: string, labels: Record<string, string>, by = 1): void {
    const key = keyOf(name, labels)
    this.#counters.set(key, (this.#counters.get(key) ?? 0) + by)
  }

  #observe(name: string, labels: Record<string, string>, seconds: number): void {
    const key = keyOf(name, labels)
    const histogram = this.#histograms.get(key) ?? { counts: SECONDS.map(() => 0), sum: 0, count: 0 }
    this.#histograms.set(key, histogram)
    const at = SECONDS.findIndex((bound) => seconds <= bound)
    if (at !== -1) histogram.counts[at]!++
    histogram.sum += seconds
    histogram.count++
  }
}

const help: Record<string, string> = {
  coa_requests_total: 'Requests by endpoint and HTTP status.',
  coa_request_seconds: 'Time until a request was answered completely.',
  coa_time_to_first_token_seconds: 'Time until the first text of a chain was there.',
  coa_chains_total: 'Chains by the reason why they ended.',
  coa_recorded_chains_total: 'Chains that were to be recorded, by whether they are.',
  coa_feedback_total: 'Feedback on recorded chains, by its rating.',
  coa_tool_calls_total: 'Tool calls by tool and outcome.',
  coa_tool_call_seconds: 'Time that tool calls took.',
  coa_tokens_total:
    'Tokens of prompts, written by the model, and inserted as observations, each counted once.',
  coa_tokens_billed_total: 'Tokens with every request of the engine charged for its whole context.',
  coa_chains_running: 'Chains that run.',
  coa_chains_waiting: 'Chains that wait for a slot.',
  coa_chains_held: 'Chains that wait for tool results of a client.',
  process_resident_memory_bytes: 'Memory of the process.',
}

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

function keyOf(name: string, labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escaped(value)}"`)
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`
}

const sorted = <T>(values: ReadonlyMap<string, T>): [string, T][] =>
  [...values].sort(([one], [other]) => (one < other ? -1 : 1))
