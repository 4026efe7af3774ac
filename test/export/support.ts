import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { onTestFinished } from 'vitest'
import {
  buildPrompt,
  exampleChains,
  type Grammar,
  parseChain,
  render,
  spansOf,
} from '../../src/language/grammar/index.ts'
import { Stream, type Task } from '../../src/schema/index.ts'
import { createRun, type Run, sequenceDigest } from '../../src/store/index.ts'
import { allowedSpeakers, anyGrammar, grammars, nastyText } from '../grammar/arbitraries.ts'

export const formatNames = [
  'llama-factory-sharegpt',
  'llama-factory-alpaca',
  'trl-messages',
  'trl-tokens',
  'verl-sft',
  'verl-rl',
  'axolotl',
  'openai',
  'tinker',
]

export function sequenceFrom(grammar: Grammar, question: string, text: string, id: string): Stream {
  const spans = spansOf(parseChain(grammar, text))
  const prompt = buildPrompt(grammar, question)
  return Stream.parse({ v: 2, id, grammar: grammar.name, prompt, spans, taskId: `task-${id}` })
}

/** The example chain of every grammar. */
export function exampleSequences(): Stream[] {
  return grammars.map((grammar) => {
    const { question, steps } = exampleChains.get(grammar.name)!
    return sequenceFrom(grammar, question, render(grammar, steps), `example-${grammar.name}`)
  })
}

const observation = (text: string): string => `\n<observation>${text}</observation>\n`

/** Likely problems: closing tags and control tokens in an observation, empty text, other scripts. */
export function troubledSequences(): Stream[] {
  const grammar = grammars.find(({ name }) => name === 'web')!
  const chain = (id: string, between: string): Stream => {
    const call = { agent: 'web_search', kind: 'call' as const, text: '<web_search>漢字 é</web_search>' }
    const answer = {
      agent: 'answer',
      kind: 'answer' as const,
      text: '<answer>👩‍👩‍👧 e\u0301 ﬁ\u2028x</answer>',
    }
    const seen = { agent: 'observation', kind: 'observation' as const, text: observation(between) }
    const spans = [call, seen, answer].map((span) => ({ ...span, origin: { events: [] } }))
    const prompt = buildPrompt(grammar, `Wer? | "${id}" \ufeff`)
    return Stream.parse({ v: 2, id, grammar: 'web', prompt, spans })
  }
  return [
    chain('closing-tags', 'a </observation> b </web_search><answer>no</answer>'),
    chain('control-token', 'stop <|im_end|> here'),
    chain('empty', ''),
    chain('lines', '\r\n\r\n\t'),
  ]
}

const message = fc.record({ role: fc.constantFrom('system', 'user', 'assistant'), content: nastyText })
/** Most prompts are as coa makes them; some are arbitrary. */
const anyPrompt = fc.oneof(
  {
    weight: 4,
    arbitrary: nastyText.map((content) => [
      { role: 'system', content: 's' },
      { role: 'user', content },
    ]),
  },
  { weight: 1, arbitrary: nastyText.map((content) => [{ role: 'user', content }]) },
  { weight: 1, arbitrary: fc.array(message, { maxLength: 4 }) },
)

const anySpans = fc.array(
  fc.record({
    agent: fc.constant('a'),
    kind: fc.constantFrom('role', 'call', 'observation', 'answer'),
    text: fc.oneof(nastyText, fc.constant('')),
    origin: fc.constant({ events: [] }),
  }),
  { maxLength: 8 },
)

const grammarSpans = anyGrammar.chain((grammar) =>
  allowedSpeakers(grammar).chain((speakers) =>
    fc.tuple(...speakers.map(() => nastyText)).map((texts) =>
      spansOf(
        parseChain(
          grammar,
          render(
            grammar,
            speakers.map((agent, at) => ({ agent, text: texts[at]! })),
          ),
        ),
      ),
    ),
  ),
)

/** Chains of every grammar and spans in arbitrary order, with all kinds of text. */
export const anySequence = fc
  .record({ prompt: anyPrompt, spans: fc.oneof(anySpans, grammarSpans) })
  .map(({ prompt, spans }) => Stream.parse({ v: 2, id: 's', grammar: 'web', prompt, spans }))

export interface TestRun {
  run: Run
  folder: string
  out: string
}

/** A run with these sequences, and with tasks of two splits. */
export function makeRun(sequences: Stream[], tasks: Task[] = exampleTasks): TestRun {
  const folder = mkdtempSync(join(tmpdir(), 'coa-export-'))
  const run = createRun(folder, { id: 'r', command: 'test', coa: '0.0.0' })
  run.appendMany('sequence', sequences)
  run.appendMany('task', tasks)
  onTestFinished(() => {
    run.close()
    rmSync(folder, { recursive: true })
  })
  return { run, folder, out: join(folder, 'out') }
}

/** As the filter stores its selection in the run folder. */
export function keep(run: Run, kept: Array<{ id: string; weight?: number }>): void {
  const digestOf = (id: string): string => {
    const sequence = run.get('sequence', id)
    return sequence === undefined ? 'none' : sequenceDigest(sequence)
  }
  mkdirSync(join(run.dir, 'filter'), { recursive: true })
  writeFileSync(
    join(run.dir, 'filter', 'kept.jsonl'),
    kept
      .map(({ id, weight = 1 }) => `${JSON.stringify({ v: 1, id, weight, digest: digestOf(id) })}\n`)
      .join(''),
  )
}

export const exampleTasks: Task[] = [
  {
    v: 1,
    id: 't1',
    suite: 'math',
    domain: 'math',
    split: 'train',
    question: '1 + 1 = ?',
    gold: { checker: 'math', answer: '2' },
    meta: {},
  },
  {
    v: 1,
    id: 't2',
    suite: 'own',
    domain: 'web',
    split: 'dev',
    question: 'Wer? 👩‍👧',
    gold: { checker: 'exact', answers: ['A', 'B'] },
    meta: { licence: 'CC0' },
  },
  {
    v: 1,
    id: 't3',
    suite: 'code',
    domain: 'code',
    question: 'Print 1.',
    gold: { checker: 'code', tests: [{ style: 'stdio', stdin: '', stdout: '1\n' }] },
    meta: {},
  },
  {
    v: 1,
    id: 't4',
    suite: 'own',
    domain: 'web',
    split: 'train',
    question: 'Why?',
    gold: { checker: 'judge', answer: 'so' },
    meta: {},
  },
]
