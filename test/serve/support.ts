import type { Policy, RolloutSettings, World } from '../../src/agent/index.ts'
import { builtinGrammars, type Grammar } from '../../src/language/grammar/index.ts'
import type { Rollout } from '../../src/schema/index.ts'
import {
  Metrics,
  Recorder,
  type RequestLog,
  Service,
  type SpanExporter,
  startServer,
} from '../../src/serve/index.ts'
import type { Picker } from '../../src/serve/service.ts'
import { ServeSection } from '../../src/serve/settings.ts'
import type { Run } from '../../src/store/index.ts'
import { callOf, policyOf, settings, worldOf, writes } from '../rollout/fixtures.ts'

/** A chain with a role, a call, a reflection and an answer. */
export const solution = (observations: number): string =>
  observations === 0
    ? `<think>Compute it.</think><plan>Run a program.</plan><think>Now.</think>${callOf('print(2 + 3)')}`
    : '<reflection>It says 5.</reflection><think>Done.</think><answer>\\boxed{5}, ¡cinco! 🦙</answer>'
export const answer = '\\boxed{5}, ¡cinco! 🦙'

interface Options {
  serve?: Partial<ServeSection>
  write?: (soFar: string, request: number) => string
  policy?: Policy
  world?: World
  grammar?: Grammar
  settings?: Partial<RolloutSettings>
  keys?: string[]
  exporter?: SpanExporter
  picker?: Picker
  /** Where chains are recorded. */
  run?: Run
}

export interface TestServer {
  url: string
  base: string
  service: Service
  rollouts: Rollout[]
  logs: RequestLog[]
  /** What could not be recorded. */
  notes: string[]
  stop: () => Promise<void>
  post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Response>
  chat: (fields: Record<string, unknown>) => Promise<Response>
}

const running = new Set<TestServer>()

/** For `afterEach`. */
export async function stopServers(): Promise<void> {
  await Promise.all([...running].map((server) => server.stop()))
}

/** A server in this process, over an engine that writes from a script. */
export async function startTestServer(options: Options = {}): Promise<TestServer> {
  const { write = writes(solution), keys = [], exporter } = options
  const serve = ServeSection.parse({ port: 0, shutdown_s: 0, ...options.serve })
  const rollouts: Rollout[] = []
  const logs: RequestLog[] = []
  const notes: string[] = []
  const metrics = new Metrics()
  const service = new Service({
    serve,
    policy: options.policy ?? policyOf(write),
    world: options.world ?? worldOf(async () => ({ text: '5' })),
    grammar: options.grammar ?? builtinGrammars.get('math')!,
    settings: { ...settings, ...options.settings },
    meta: {},
    pickerOf: async () => options.picker ?? Promise.reject(new Error('no picker')),
    metrics,
    recorder:
      options.run === undefined
        ? undefined
        : new Recorder({
            run: options.run,
            model: 'mine',
            task: { domain: 'math', meta: {} },
            onFailure: (message) => void notes.push(message),
          }),
    onRollout: (rollout) => void rollouts.push(rollout),
  })
  const { url, stop } = await startServer({
    service,
    model: 'mine',
    keys,
    exporter,
    onRequest: (log) => void logs.push(log),
  })
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const server: TestServer = {
    url,
    base: `${url}/v1`,
    service,
    rollouts,
    logs,
    notes,
    stop: async () => {
      running.delete(server)
      await stop()
    },
    post,
    chat: (fields) =>
      post('/v1/chat/completions', {
        model: 'mine',
        messages: [{ role: 'user', content: 'What is 2 + 3?' }],
        ...fields,
      }),
  }
  running.add(server)
  return server
}

/** Resolves when the condition holds, however long that takes. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** The data of a response's events, without the end mark. */
export async function eventsOf(response: Response): Promise<Record<string, unknown>[]> {
  return (await response.text())
    .split('\n\n')
    .flatMap((event) => /^data: (\{.*)$/m.exec(event)?.[1] ?? [])
    .map((data) => JSON.parse(data) as Record<string, unknown>)
}
