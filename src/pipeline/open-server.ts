import { basename } from 'node:path'
import { modelFolder, openStudent, openWorld, rolloutSettings, worldForQuestion } from '../agent/index.ts'
import type { Engine } from '../engine/index.ts'
import type { Rollout, Task } from '../schema/index.ts'
import {
  type ApiServer,
  assertProtected,
  Metrics,
  Recorder,
  type RequestLog,
  readKeys,
  Service,
  SpanExporter,
  servedGrammar,
  startServer,
} from '../serve/index.ts'
import { otlpTarget, readEnvironment } from '../settings/index.ts'
import type { Run } from '../store/index.ts'
import { answerPicker } from './answer-picker.ts'
import type { ProjectConfig } from './settings.ts'

export interface ServerOptions {
  /** What the tools need to know about every question. */
  meta?: Task['meta']
  onRequest?: (log: RequestLog) => void
  /** Called with each chain that has ended. */
  onRollout?: (rollout: Rollout, task: Task) => void
  onNote?: (note: string) => void
  /** Where chains are recorded. */
  run?: Run
}

export interface OpenServer extends ApiServer {
  grammar: string
  /** Whether clients need a key. */
  locked: boolean
}

/** Serves the model of the settings, in their world. */
export async function openServer(
  config: ProjectConfig,
  { meta = {}, onRequest = () => {}, onRollout, onNote = () => {}, run }: ServerOptions = {},
): Promise<OpenServer> {
  const { serve, student, language } = config
  const environment = readEnvironment()
  const keys = readKeys(serve, environment)
  assertProtected(serve, keys)
  const target = otlpTarget(environment)
  const folder = modelFolder(student.model)
  const name = servedGrammar(language.grammar, folder)
  const opened = await openWorld({ ...config, language: { ...language, grammar: name } })
  let engine: Engine | undefined
  const close = async (): Promise<void> => {
    await engine?.close()
    await opened.close()
  }
  try {
    const task: Task = {
      v: 1,
      id: 'served',
      suite: 'serve',
      domain: name,
      question: '',
      gold: { checker: 'none' },
      meta,
    }
    const { world, grammar } =
      serve.tools === 'client'
        ? { world: opened, grammar: await opened.grammarOf(task) }
        : await worldForQuestion(opened, task, config, undefined)
    const model = await openStudent(config, student.model, onNote)
    engine = model.engine
    const recorder =
      run === undefined
        ? undefined
        : new Recorder({
            run,
            model: serve.name ?? basename(folder),
            task: { domain: name, meta },
            onFailure: onNote,
          })
    const service = new Service({
      serve,
      policy: { ...model, checkpoint: config.engine.url ?? folder },
      world,
      grammar,
      settings: rolloutSettings(config),
      meta,
      pickerOf: (how) => answerPicker(how, config),
      metrics: new Metrics(),
      recorder,
      ...(onRollout === undefined ? {} : { onRollout }),
    })
    const exporter = target === undefined ? undefined : new SpanExporter(target, onNote)
    const server = await startServer({ service, model: basename(folder), keys, exporter, onRequest })
    return {
      ...server,
      grammar: grammar.name,
      locked: keys.length > 0,
      stop: async () => {
        await server.stop()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}
