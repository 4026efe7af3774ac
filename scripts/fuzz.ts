/**
 * Fuzzes the grammar parser: `npm run fuzz -- [--inputs 1000000] [--seed 1]`. Checks on every input that nothing
 * throws, that events and spans cover the text exactly, and that chunked input gives the same events as whole input.
 * A watchdog detects hangs; growth with size is measured on adversarial texts. Prints its counts; exits with 1 and
 * prints the input on the first failure.
 */
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { ChainParser, type Grammar, joinText, parseChain, spansOf } from '../src/language/grammar/index.ts'
import { grammarsWithEveryPayload } from '../test/grammar/visual-inspector.ts'

const grammars = grammarsWithEveryPayload
const tags = [
  ...new Set(grammars.flatMap((grammar) => [...grammar.agents.values()].map((agent) => agent.tag))),
]
const pieces = [
  ...tags.flatMap((tag) => [
    `<${tag}>`,
    `</${tag}>`,
    `<${tag.toUpperCase()}>`,
    `</${tag}`,
    `<\\/${tag}>`,
    `<${tag} `,
  ]),
  ...['<', '>', '</', '<\\', '<>', '<p>', '<a_b-c.d>', '`', '```', '```py\n', '\n```\n', '````', '```sh\n'],
  ...[
    '{',
    '}',
    '[',
    '"',
    "'",
    ':',
    ',',
    '{"file_path":"a"}',
    "{file_path: 'a'}",
    '|',
    ' | ',
    '\\',
    '\\|',
    '//',
    '/*',
  ],
  ...[
    '\n',
    '\r\n',
    '\t',
    ' ',
    '\0',
    '\u00a0',
    '\u2028',
    '\ufeff',
    '\ud800',
    '\udfff',
    '👩‍👧',
    'e\u0301',
    '漢',
    'x',
  ],
  'x'.repeat(63),
  'x'.repeat(65),
]

/** Small, fast and seeded (mulberry32). */
function randomSource(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

function randomText(random: () => number): string {
  const shape = random()
  const count = shape < 0.9 ? random() * 16 : shape < 0.99 ? random() * 120 : random() * 4000
  let text = ''
  for (let i = 0; i < count; i++) {
    text +=
      random() < 0.8 ? pieces[Math.floor(random() * pieces.length)] : String.fromCharCode(random() * 65536)
  }
  return text
}

function check(grammar: Grammar, text: string, strict: boolean, random: () => number): void {
  const whole = new ChainParser(grammar, { strict })
  const events = [...whole.push(text), ...whole.end()]
  let at = 0
  for (const event of events) {
    if (event.type !== 'text' && event.type !== 'agent-opened' && event.type !== 'agent-closed') continue
    if (event.start !== at) throw new Error(`events leave a gap at ${at}`)
    at = event.end
  }
  if (at !== text.length) throw new Error(`events end at ${at} of ${text.length}`)
  const chunked = new ChainParser(grammar, { strict })
  const fed = []
  for (let from = 0; from < text.length; ) {
    const to = from + 1 + Math.floor(random() * 20)
    fed.push(...chunked.push(text.slice(from, to)))
    from = to
  }
  fed.push(...chunked.end())
  if (JSON.stringify(joinText(fed)) !== JSON.stringify(joinText(events)))
    throw new Error('events depend on the chunks')
  const spans = spansOf(parseChain(grammar, text, { strict }))
  if (spans.map((span) => span.text).join('') !== text) throw new Error('spans do not cover the text')
}

/** Scalable texts that a careless parser reads in quadratic time. */
const growing: Record<string, (size: number) => string> = {
  'open brackets': (size) => '<'.repeat(size),
  'half tags': (size) => '<think'.repeat(size / 6),
  'opening tags': (size) => '<think>'.repeat(size / 7),
  'closing tags': (size) => `<think>${'</plan>'.repeat(size / 7)}`,
  escapes: (size) => `<web_search>${'<\\\\\\'.repeat(size / 4)}</web_search>`,
  backslashes: (size) => `<crawl_page>${'\\'.repeat(size)}</crawl_page>`,
  bars: (size) => `<crawl_page>${'|'.repeat(size)}x</crawl_page>`,
  spaces: (size) => `<code>${' '.repeat(size)}x${' '.repeat(size)}</code>`,
  'fence and spaces': (size) => `<code>\`\`\`${' '.repeat(size)}x y</code>`,
  ticks: (size) => `<code>${'`'.repeat(size)}x${'`'.repeat(size)}y</code>`,
  fences: (size) => `<code>${'```py\n```\n'.repeat(size / 10)}</code>`,
  braces: (size) => `<visual_inspector>${'{"a":'.repeat(size / 5)}</visual_inspector>`,
  quotes: (size) => `<visual_inspector>{${'"\\'.repeat(size / 2)}</visual_inspector>`,
  commas: (size) => `<visual_inspector>{"a":[${',/* */'.repeat(size / 6)}</visual_inspector>`,
  'stray text': (size) => ' x'.repeat(size / 2),
  blocks: (size) =>
    '<think>a</think>\n<web_search>b</web_search>\n<observation>c</observation>\n'.repeat(size / 73),
}

/**
 * Ratio of the time for eight times the text to the time for the text; 8 is linear. The same amount of text is read
 * in one piece and in eight, in direct succession, so that both see the same machine load. The minimum of several
 * ratios counts: noise only increases some of them, superlinear growth all of them.
 */
function growth(grammar: Grammar, make: (size: number) => string): number {
  const msOf = (text: string, times: number): number => {
    const start = performance.now()
    for (let i = 0; i < times; i++) spansOf(parseChain(grammar, text))
    return performance.now() - start
  }
  const small = make(100_000)
  const large = make(800_000)
  const ratios = Array.from({ length: 7 }, () => (8 * msOf(large, 1)) / Math.max(msOf(small, 8), 0.16))
  return Math.min(...ratios)
}

function work({ inputs, seed }: { inputs: number; seed: number }): void {
  const random = randomSource(seed)
  let characters = 0
  for (let count = 1; count <= inputs; count++) {
    const text = randomText(random)
    const grammar = grammars[Math.floor(random() * grammars.length)]!
    const strict = random() < 0.5
    characters += text.length
    try {
      check(grammar, text, strict, random)
    } catch (error) {
      const input = JSON.stringify(text)
      parentPort!.postMessage({
        failed: `${(error as Error).stack}\ngrammar ${grammar.name}, strict ${strict}, input ${input}`,
      })
      return
    }
    if (count % 10_000 === 0) parentPort!.postMessage({ count, characters })
  }
  for (const [name, make] of Object.entries(growing)) {
    const worst = Math.max(...grammars.map((grammar) => growth(grammar, make)))
    parentPort!.postMessage({ grown: name, worst })
  }
  parentPort!.postMessage({ done: inputs, characters })
}

/** Linear is 8, quadratic is 64. The threshold leaves room for a noisy machine. */
const MAX_GROWTH = 24
const HANG_MS = 60_000

function supervise(): void {
  const { values } = parseArgs({ options: { inputs: { type: 'string' }, seed: { type: 'string' } } })
  const inputs = Number(values.inputs ?? 1_000_000)
  const seed = Number(values.seed ?? 1)
  const started = performance.now()
  const worker = new Worker(new URL(import.meta.url), { workerData: { inputs, seed } })
  const fail = (reason: string): never => {
    console.error(`fuzz failed: ${reason}`)
    process.exit(1)
  }
  let watchdog = setTimeout(() => fail('no progress; the parser hangs'), HANG_MS)
  worker.on('error', (error) => fail(String(error.stack)))
  worker.on('message', (message: Record<string, never>) => {
    clearTimeout(watchdog)
    watchdog = setTimeout(() => fail('no progress; the parser hangs'), HANG_MS)
    const { failed, count, grown, worst, done, characters } = message
    if (failed !== undefined) fail(failed)
    if (count !== undefined && count % 100_000 === 0) console.log(`${count} inputs, ${characters} characters`)
    if (grown !== undefined) {
      console.log(`growth for 8 times the text, ${grown}: ${Number(worst).toFixed(1)}`)
      if (Number(worst) > MAX_GROWTH) fail(`${grown} takes superlinear time`)
    }
    if (done !== undefined) {
      clearTimeout(watchdog)
      const seconds = ((performance.now() - started) / 1000).toFixed(0)
      console.log(
        `fuzz passed: ${done} inputs, ${characters} characters, seed ${seed}, ${seconds} s, 0 failures`,
      )
    }
  })
}

if (isMainThread) supervise()
else work(workerData)
