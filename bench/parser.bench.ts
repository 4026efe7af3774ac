/** Parser throughput compared with JSON.parse of the same text as a JSON string, in one run. */
import { builtinGrammars, ChainParser, render, type Step } from '../src/language/grammar/index.ts'
import { type BenchResult, raceMs } from './bench-result.ts'

const sentence =
  'The first result gives 1964 as the year, but the second one speaks of a later edition; both need a check. '

/** A chain as a web agent would write it: short thoughts and calls, long observations. */
function webChain(rounds: number): Step[] {
  const steps: Step[] = [
    { agent: 'think', text: sentence },
    { agent: 'plan', text: `1. ${sentence}\n2. ${sentence}` },
  ]
  for (let round = 0; round < rounds; round++) {
    steps.push({ agent: 'think', text: sentence.repeat(3) })
    if (round % 2 === 0) steps.push({ agent: 'web_search', text: `winner of the ${1900 + round} edition` })
    else steps.push({ agent: 'crawl_page', text: `https://example.org/${round} | https://example.org/b` })
    const hit = `${round}. [Title <b>${round}</b>](https://example.org/${round})\n\n${sentence.repeat(2)}\n`
    steps.push({ agent: 'observation', text: hit.repeat(10) })
  }
  steps.push({ agent: 'think', text: sentence }, { agent: 'suggested_answer', text: 'Santa Claus' })
  steps.push({ agent: 'think', text: sentence }, { agent: 'double_check', text: 'The score is 4.' })
  return [...steps, { agent: 'think', text: sentence }, { agent: 'answer', text: 'Santa Claus' }]
}

export async function run(): Promise<BenchResult[]> {
  const grammar = builtinGrammars.get('web')!
  const texts = Array.from({ length: 400 }, (_, index) => render(grammar, webChain(4 + (index % 9))))
  const jsons = texts.map((text) => JSON.stringify(text))
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const parseAll = (chunk: number) => (): void => {
    for (const text of texts) {
      const parser = new ChainParser(grammar)
      for (let from = 0; from < text.length; from += chunk) parser.push(text.slice(from, from + chunk))
      parser.end()
    }
  }
  const jsonAll = (): void => {
    for (const json of jsons) JSON.parse(json)
  }
  const whole = raceMs(30, parseAll(Number.MAX_SAFE_INTEGER), jsonAll)
  const streamed = raceMs(10, parseAll(16), jsonAll)
  const megabytesPerSecond = (ms: number): number => bytes / 1e6 / (ms / 1000)
  const ratio = whole.right / whole.left
  return [
    {
      name: 'parser, whole texts, ratio to JSON.parse',
      value: ratio,
      unit: '×',
      goal: '≥ 0.5',
      met: ratio >= 0.5,
    },
    { name: 'parser, whole texts', value: megabytesPerSecond(whole.left), unit: 'MB/s' },
    { name: 'JSON.parse of the same texts', value: megabytesPerSecond(whole.right), unit: 'MB/s' },
    {
      name: 'parser, fed 16 characters at a time',
      value: megabytesPerSecond(streamed.left),
      unit: 'MB/s',
      note: `${(streamed.right / streamed.left).toFixed(2)} × JSON.parse`,
    },
  ]
}
