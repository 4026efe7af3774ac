import { expect } from 'vitest'
import { Random } from '../../src/base/random/index.ts'
import { type LogFormat, recordsIn, toTrajectory } from '../../src/logs/index.ts'

/** Words that no format, and no other text, has. */
const WORD = /Strange\d{5}x/g

/**
 * Where nobody's words are: what traces say about themselves, and the pieces of a stream, which are read once they are joined.
 * What agents say is elsewhere: in messages, inputs, outputs and attributes.
 */
const machinery: Readonly<Record<string, RegExp>> = {
  langsmith: /^(?!.*\.(?:inputs|outputs)\b)/,
  langfuse: /^(?!.*\.(?:input|output)\b)/,
  otlp: /^(?!.*\.attributes$)|\.(?:resource|scope)\.attributes$/,
  openinference: /^(?!.*\.attributes$)|^\.rootSpan\b/,
  mlflow: /^(?!.*\.attributes$)/,
  langchain: /^(?:\[\])?$|^\[\]\[\]|\.(?:metadata|checkpoint|config|chunk|data)\b/,
  'openai-chat': /^(?:\.choices\[\](?:\.delta.*)?)?$/,
  anthropic: /^(?:\.(?:delta|content_block)\b.*)?$/,
}

/**
 * Nothing is lost, whatever a log has that its format does not know: what is put under keys that nobody has heard of, next to
 * what is known, must be in an event, left out with a reason, or in a record that is reported.
 */
export async function expectConserved(format: LogFormat, values: readonly unknown[]): Promise<void> {
  const words = new Words(machinery[format.name], new Random('conserved', JSON.stringify(values)))
  const strange = values.map((value) => words.into(value))
  const kept: string[] = []
  async function* records() {
    for (const [index, value] of strange.entries()) {
      // A map is always asked for.
      const asked = format.name === 'map' ? format : undefined
      const found = recordsIn({ value, where: `log:${index + 1}` }, asked)
      if (found.beside !== undefined) kept.push(JSON.stringify(found.beside))
      if (found.format?.name === format.name) yield* found.records
      // Words may make it look like another format, or none, which is reported.
      else kept.push(JSON.stringify(value))
    }
  }
  for await (const run of format.read(records())) {
    const record = strange[Number(/^log:(\d+)/.exec(run.where)?.[1] ?? 1) - 1]
    const isReported = 'problem' in run || run.items.length === 0
    const head = { id: 'run', taskId: 'task', team: 'team', markup: format.markup }
    kept.push(JSON.stringify(isReported ? record : toTrajectory(run, head)))
  }
  const found = new Set(kept.join('').match(WORD))
  expect(words.put.filter(({ word }) => !found.has(word))).toEqual([])
}

/** Puts unknown words into values, and remembers where. */
class Words {
  readonly put: { word: string; at: string }[] = []
  readonly #skipped: RegExp | undefined
  readonly #random: Random

  constructor(skipped: RegExp | undefined, random: Random) {
    this.#skipped = skipped
    this.#random = random
  }

  /** A copy with words in some of its objects. */
  into(value: unknown, at = ''): unknown {
    if (Array.isArray(value)) {
      const copy = value.map((one) => this.into(one, `${at}[]`))
      const isAttributes =
        value.length > 0 && value.every((one) => Object(one).value?.stringValue !== undefined)
      return isAttributes && this.#isPlace(at)
        ? [...copy, { key: 'app.note', value: { stringValue: this.#text(at) } }]
        : copy
    }
    if (typeof value !== 'object' || value === null) return value
    const copy = Object.fromEntries(
      Object.entries(value).map(([key, child]) => [key, this.into(child, `${at}.${key}`)]),
    )
    return this.#isPlace(at) ? { ...copy, words_of_somebody: this.#text(at) } : copy
  }

  #isPlace(at: string): boolean {
    return this.#random.chance(0.1) && this.#skipped?.test(at) !== true
  }

  /** Of words that are all elsewhere, but for one; or of that one alone. */
  #text(at: string): string {
    const word = `Strange${String(this.put.length).padStart(5, '0')}x`
    this.put.push({ word, at })
    return this.#random.chance(0.5) ? word : `of these words ${word} and more words`
  }
}
