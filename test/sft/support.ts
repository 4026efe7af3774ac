import { join } from 'node:path'
import {
  byteTokenizerWithTags,
  type Engine,
  newModel,
  openEmbedded,
  shapeOfSizes,
} from '../../src/engine/index.ts'
import { openTokenizer, type Tokenizer } from '../../src/language/tokens/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import type { Span, Stream } from '../../src/schema/index.ts'
import type { SftContext } from '../../src/stages/sft/index.ts'
import { createRun, openRun, type Run, type Selected } from '../../src/store/index.ts'

/** A byte-level model with about 30,000 parameters. */
export async function tinyModel(folder: string, contextLength = 256): Promise<string> {
  const model = join(folder, 'model')
  await newModel(model, {
    shape: shapeOfSizes({ width: 32, layers: 1, contextLength }),
    tokenizer: byteTokenizerWithTags(),
    seed: 1,
    createdAt: '2026-01-02T03:04:05.000Z',
  })
  return model
}

export async function openStudent(model: string): Promise<{ engine: Engine; tokenizer: Tokenizer }> {
  return { engine: await openEmbedded({ model, threads: 1 }), tokenizer: await openTokenizer(model) }
}

const span = (agent: string, kind: Span['kind'], text: string): Span => ({
  agent,
  kind,
  text,
  origin: { events: [] },
})

/** A sum, computed with one call; longer ones have longer thoughts. */
export function sumSequence(number: number, changes: Partial<Stream> = {}): Stream {
  const [left, right] = [number, (7 * number) % 10]
  return {
    v: 2,
    id: `sum-${number}`,
    taskId: `task-${number}`,
    grammar: 'math',
    prompt: [{ role: 'user', content: `${left}+${right}?` }],
    spans: [
      span('think', 'role', `<think>${'Add. '.repeat(1 + (number % 5))}</think>`),
      span('code', 'call', `<code>${left}+${right}</code>`),
      span('observation', 'observation', `\n<observation>${left + right}</observation>\n`),
      span('answer', 'answer', `<answer>${left + right}</answer>`),
    ],
    meta: {},
    ...changes,
  }
}

export function sums(count: number): Selected[] {
  return Array.from({ length: count }, (_, index) => ({
    sequence: sumSequence(index),
    weight: index % 7 === 3 ? 2 : 1,
  }))
}

export function configOf(sft: Record<string, unknown>): ProjectConfig {
  return ProjectConfig.parse({ sft })
}

/** The run in a folder, created if missing. */
export function runIn(folder: string): Run {
  try {
    return openRun(join(folder, 'run'), { write: true, command: 'test' })
  } catch {
    return createRun(folder, { id: 'run', command: 'test', coa: '0.0.0' })
  }
}

/** An engine as a plain object, to override parts of it. */
export function engineOf(engine: Engine): Engine {
  return {
    describe: () => engine.describe(),
    sample: (request) => engine.sample(request),
    forward: (...given) => engine.forward(...given),
    forwardBackward: (...given) => engine.forwardBackward(...given),
    optimStep: (given) => engine.optimStep(given),
    save: (...given) => engine.save(...given),
    load: (...given) => engine.load(...given),
    close: () => engine.close(),
  }
}

/** A short training run that evaluates and saves several times. */
export const settings = {
  epochs: 4,
  batch_tokens: 700,
  learning_rate: 1e-2,
  eval_share: 0.2,
  eval_every: 4,
  save_every: 3,
}

/** Trains on forty sums, without progress output. */
export function sftContext(parts: Pick<SftContext, 'run' | 'student'> & Partial<SftContext>): SftContext {
  return { signal: new AbortController().signal, observe: () => undefined, data: () => sums(40), ...parts }
}
