import { type ChainEvent, ChainEvents, eventsOfRollout } from '../../agent/index.ts'
import { ProjectConfig } from '../settings.ts'
import {
  type ChainModel,
  type ChainModelOptions,
  type OpenedModel,
  openChainModel,
  pickerFor,
  type QuestionOptions,
} from './chain-model.ts'
import { modelSettings } from './model-settings.ts'
import { refuseSilence, type Solved } from './solved.ts'

/** Where a model comes from and what it may use. */
export interface ModelOptions extends ChainModelOptions {
  /** Name or file of a grammar. Default: language.grammar of the settings. */
  grammar?: string | undefined
  /** The model's folder, if the model is the URL of an inference server. */
  tokenizer?: string | undefined
  /** Default: the defaults of every setting; coa.toml is not read. Use `projectConfig` to read it. */
  config?: ProjectConfig | undefined
}

export interface SolveOptions extends ModelOptions, QuestionOptions {}

/** An answer that is being worked on: await it, or iterate over what is new in its chain. */
export interface Solving extends Promise<Solved>, AsyncIterable<ChainEvent> {}

/**
 * A model answers one question, with live tools: the same prompt, tools and stopping rules as in training. The model is a folder,
 * "nano", the URL of an inference server, or one that is already open. Whatever this opens, it closes.
 *
 * Iterating over the result gives the chain while it is written; leaving the loop stops the model. With `bestOf`, it gives the
 * picked chain once it has been picked.
 *
 * @example
 * import { defineTool, solve } from 'chain-of-agents'
 * import { z } from 'zod'
 *
 * const findOrder = defineTool({
 *   name: 'find_order', description: 'Look up an order by its number.',
 *   input: z.object({ number: z.number().int() }),
 *   execute: ({ number }) => `order ${number}: shipped on Monday`,
 * })
 * const solving = solve('nano', 'When was order 4711 shipped?', { grammar: 'math', tools: ['code', findOrder], seed: 1 })
 * for await (const event of solving) if (event.type === 'role') process.stdout.write(event.text)
 * const { answer, tokens } = await solving
 * console.log(answer, tokens.once, tokens.billed)
 */
export function solve(model: string | OpenedModel, question: string, options: SolveOptions = {}): Solving {
  const stop = new AbortController()
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal])
  let out!: ReadableStreamDefaultController<ChainEvent>
  const events = new ReadableStream<ChainEvent>({
    start: (controller) => {
      out = controller
    },
    cancel: () => stop.abort(),
  })
  const work = async (): Promise<Solved> => {
    await pickerFor(options.config ?? ProjectConfig.parse({}), options)
    const opened = await openModelFor(model, options)
    try {
      signal.throwIfAborted()
      return await solveInto(opened, question, { ...options, signal }, (event) => out.enqueue(event))
    } finally {
      await opened.close()
    }
  }
  const solved = work()
  // Whoever only iterates gets the error from the loop, and whoever only awaits gets it there.
  solved.then(
    () => stop.signal.aborted || out.close(),
    (error: unknown) => stop.signal.aborted || out.error(error),
  )
  return Object.assign(solved, { [Symbol.asyncIterator]: () => events.values() })
}

/** Opens what a model's name or an open model needs to answer questions. */
export function openModelFor(model: string | OpenedModel, options: ModelOptions): Promise<ChainModel> {
  const { config = ProjectConfig.parse({}), grammar, tokenizer, tools, world } = options
  const own = { language: { ...config.language, ...(grammar === undefined ? {} : { grammar }) } }
  if (typeof model !== 'string') return openChainModel({ ...config, ...own }, { tools, world, opened: model })
  const { 'student.model': folder, 'engine.url': url } = modelSettings(model, tokenizer)
  const student = { ...config.student, ...(folder === undefined ? {} : { model: folder }) }
  const engine = url === undefined ? config.engine : { ...config.engine, driver: 'openai' as const, url }
  return openChainModel({ ...config, ...own, student, engine }, { tools, world })
}

/** Solves the question and reports what is new in its chain. */
export async function solveInto(
  model: ChainModel,
  question: string,
  options: QuestionOptions,
  onEvent: (event: ChainEvent) => void,
): Promise<Solved> {
  const reader = new ChainEvents(model.grammar)
  const solved = await model.solve(question, {
    ...options,
    onText: (text, from) => {
      options.onText?.(text, from)
      for (const event of reader.push(text, from)) onEvent(event)
    },
    onCalled: (call) => reader.called(call),
  })
  refuseSilence(solved)
  const { pick, rollouts } = solved
  const rest = pick === undefined ? reader.end() : eventsOfRollout(model.grammar, rollouts[pick.chosen ?? 0]!)
  for (const event of rest) onEvent(event)
  return solved
}
