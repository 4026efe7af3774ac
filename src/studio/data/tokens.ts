import { join } from 'node:path'
import {
  encodeStream,
  openTokenizer,
  TextStream,
  type Tokenizer,
  tokenizerNamed,
} from '../../language/tokens/index.ts'
import { isTrained, type Span } from '../../schema/index.ts'
import { readToml } from '../../settings/index.ts'
import type { TokensView } from '../api.ts'
import type { OpenRun } from './open-runs.ts'
import type { Query } from './query.ts'
import { missing } from './records.ts'
import { isOwn, within } from './run-folder.ts'

const MOST = 20_000

interface Opened {
  name: string
  tokenizer: Tokenizer
}

/** The tokens of rollouts as they were sampled, and of chains as they would be trained on. */
export class Tokens {
  readonly #tokenizers = new Map<string, Promise<Opened | undefined>>()

  async ofRollout({ run, index }: OpenRun, id: string, query: Query): Promise<TokensView> {
    const found = run.get('rollout', id)
    if (found === undefined) throw missing('rollout', id)
    const opened = await this.#of(run.dir)
    const row = index.get<{ advantage: number | null }>('SELECT advantage FROM rollout WHERE id = ?', id)
    return cut(columnsOf(found.spans, row?.advantage ?? undefined), query, opened)
  }

  async ofChain({ run }: OpenRun, id: string, query: Query): Promise<TokensView> {
    const found = run.get('sequence', id)
    if (found === undefined) throw missing('chain', id)
    const opened = await this.#of(run.dir)
    const isRecorded = found.spans.some(({ tokens }) => tokens !== undefined)
    if (isRecorded || opened === undefined) return cut(columnsOf(found.spans, undefined), query, opened)
    const { ids, mask, spanOf, promptLength } = encodeStream(opened.tokenizer, found, {
      endOfSequence: false,
    })
    const after = <T>(column: ArrayLike<T>): T[] => Array.from(column).slice(promptLength)
    return cut({ ids: after(ids), mask: after(mask), spans: after(spanOf) }, query, opened)
  }

  /** A tokenizer of the run's own models, or the bundled one if that is what its settings name. */
  #of(dir: string): Promise<Opened | undefined> {
    let opening = this.#tokenizers.get(dir)
    if (opening === undefined) {
      opening = opened(dir)
      this.#tokenizers.set(dir, opening)
      // A run may get its first model later.
      opening.then((found) => found === undefined && this.#tokenizers.delete(dir))
      if (this.#tokenizers.size > 3) this.#tokenizers.delete(this.#tokenizers.keys().next().value!)
    }
    return opening
  }
}

async function opened(dir: string): Promise<Opened | undefined> {
  for (const name of ['rl', 'sft', 'sft-last']) {
    const file = within(dir, 'checkpoints', name, 'tokenizer.json')
    if (file === undefined || !isOwn(file, 'file')) continue
    try {
      return { name: `checkpoints/${name}`, tokenizer: await openTokenizer(join(dir, 'checkpoints', name)) }
    } catch {
      // Of another version, or damaged.
    }
  }
  try {
    const { student } = readToml(join(dir, 'config.toml')) as { student?: { model?: string } }
    return student?.model === 'nano' ? { name: 'nano', tokenizer: await tokenizerNamed('nano') } : undefined
  } catch {
    return undefined
  }
}

type Columns = Omit<TokensView, 'from' | 'total' | 'texts' | 'tokenizer'>

function columnsOf(spans: readonly Span[], advantage: number | undefined): Columns {
  const columns = { ids: [] as number[], spans: [] as number[], mask: [] as number[] }
  const logprobs: (number | null)[] = []
  const modelLogprobs: (number | null)[] = []
  const policies: (number | null)[] = []
  for (const [at, span] of spans.entries()) {
    const { tokens = [] } = span
    const trained = isTrained(span) ? 1 : 0
    const steps = (span.policies ?? []).flatMap(({ step, tokens: count }) => Array<number>(count).fill(step))
    for (const [place, id] of tokens.entries()) {
      columns.ids.push(id)
      columns.spans.push(at)
      columns.mask.push(trained)
      logprobs.push(span.logprobs?.[place] ?? null)
      modelLogprobs.push(span.modelLogprobs?.[place] ?? null)
      policies.push(steps[place] ?? null)
    }
  }
  const isKnown = (column: readonly (number | null)[]): boolean => column.some((value) => value !== null)
  return {
    ...columns,
    ...(isKnown(logprobs) ? { logprobs } : {}),
    ...(isKnown(modelLogprobs) ? { modelLogprobs } : {}),
    ...(isKnown(policies) ? { policies } : {}),
    ...(advantage === undefined ? {} : { advantages: columns.mask.map((trained) => trained * advantage) }),
  }
}

function cut(columns: Columns, query: Query, opened: Opened | undefined): TokensView {
  const total = columns.ids.length
  const from = Math.min(total, query.whole('from') ?? 0)
  const until = Math.min(total, from + Math.min(MOST, query.whole('count') ?? MOST))
  const part = Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, column.slice(from, until)]),
  ) as unknown as Columns
  return {
    from,
    total,
    ...part,
    ...(opened === undefined ? {} : { texts: textsOf(part.ids, opened.tokenizer), tokenizer: opened.name }),
  }
}

/** The text that each token adds; a character of several tokens is the text of the last of them. */
export function textsOf(ids: readonly number[], tokenizer: Pick<Tokenizer, 'decode'>): string[] {
  const stream = new TextStream(tokenizer, { continuation: true })
  const texts = ids.map((id) => stream.push(id))
  const rest = stream.finish()
  return rest === '' ? texts : [...texts.slice(0, -1), (texts.at(-1) ?? '') + rest]
}
