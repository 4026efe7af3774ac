/**
 * Speed of training a tokenizer compared with encoding the same text with it: both split the text into words, so the
 * ratio shows the cost of learning the merges, on any machine.
 */
import { tokenizerFromJson } from '../src/language/tokens/index.ts'
import { trainTokenizer } from '../src/language/tokens/train/index.ts'
import type { BenchResult } from './bench-result.ts'

const megabytes = 20
const vocabularySize = 8192

/** A small seeded generator, so that every run measures the same text. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Words made of syllables, a few very frequent ones and a long tail of rare ones, as in any language. */
function makeTexts(bytes: number): string[] {
  const random = createRandom(7)
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)]!
  const onsets = 'b c d f g h l m n p r s t v w st tr ch sh pl gr é'.split(' ')
  const endings = 'a e i o u an er in on ing tion al y es ed ou ä'.split(' ')
  const words = Array.from({ length: 250_000 }, () => {
    const syllables = Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(onsets) + pick(endings))
    return syllables.join('')
  })
  const texts: string[] = []
  for (let size = 0; size < bytes; ) {
    const parts = Array.from({ length: 100 }, () =>
      random() < 0.03
        ? String(Math.floor(random() * 3000))
        : words[Math.floor(words.length ** random()) - 1]! + (random() < 0.1 ? ', ' : ' '),
    )
    const text = `${parts.join(' ')}.\n`
    size += Buffer.byteLength(text)
    texts.push(text)
  }
  return texts
}

async function timed<T>(work: () => T | Promise<T>): Promise<{ seconds: number; value: T }> {
  const start = performance.now()
  const value = await work()
  return { seconds: (performance.now() - start) / 1000, value }
}

export async function run(): Promise<BenchResult[]> {
  const texts = makeTexts(megabytes * 1e6)
  const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1e6
  let training = Number.POSITIVE_INFINITY
  let encoding = Number.POSITIVE_INFINITY
  let note = ''
  let bytesPerToken = 0
  // Alternating, the fastest of each, so that drift of the machine affects both equally.
  for (let round = 0; round < 2; round++) {
    const trained = await timed(() => trainTokenizer(texts, { vocabularySize }))
    const tokenizer = tokenizerFromJson(trained.value.json, trained.value.config)
    const encoded = await timed(() => texts.reduce((sum, text) => sum + tokenizer.encodeIds(text).length, 0))
    training = Math.min(training, trained.seconds)
    encoding = Math.min(encoding, encoded.seconds)
    const { differentWords, vocabularySize: learned } = trained.value.summary
    note = `${size.toFixed(0)} MB, ${learned} tokens, ${differentWords} distinct words`
    bytesPerToken = (size * 1e6) / encoded.value
  }
  return [
    { name: 'training / encoding the same text, time', value: training / encoding, unit: '×' },
    { name: 'training', value: size / training, unit: 'MB/s', note },
    { name: 'encoding', value: size / encoding, unit: 'MB/s' },
    {
      name: 'training, total',
      value: training,
      unit: 's',
      goal: '< 30 s',
      met: training < 30,
    },
    { name: 'bytes per token', value: bytesPerToken, unit: 'bytes' },
  ]
}
