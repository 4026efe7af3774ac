import { builtinGrammars } from '../../src/language/grammar/index.ts'
import { byteTokenizer, encodePrompt } from '../../src/language/tokens/index.ts'
import type { Task } from '../../src/schema/index.ts'
import { type Surroundings, type Team, topologies } from '../../src/stages/teach/index.ts'
import { suites as generated, serveWorld, type WorldServer, worldTools } from '../../src/tasks/index.ts'
import { openSandbox, type Sandbox } from '../../src/world/sandbox/index.ts'
import { codeTool, type Tool } from '../../src/world/tools/index.ts'

export const suites = ['math', 'search', 'code'] as const

export function taskOf(suite: string, index: number): Task {
  return generated.get(suite)!.generate({ seed: 11, split: 'train', index })
}

export function teamOf(topology: string, minds: Team['minds'], limits: Partial<Team['limits']> = {}): Team {
  return {
    name: topology,
    topology: topologies.get(topology)!,
    minds,
    limits: { steps: 40, tokens: 1e8, wallMs: 120_000, spend: 1e9, ...limits },
    prices: { prompt: 1, completion: 2 },
    reflectEvery: 3,
  }
}

const tokenizer = byteTokenizer()

/** The real environment of generated tasks: a sandbox that starts quickly, and the encyclopedia over HTTP. */
export class Place {
  readonly #sandbox: Sandbox
  readonly #world: WorldServer

  private constructor(sandbox: Sandbox, world: WorldServer) {
    this.#sandbox = sandbox
    this.#world = world
  }

  static async open(): Promise<Place> {
    return new Place(await openSandbox({ driver: 'pyodide' }), await serveWorld())
  }

  toolsFor(task: Task): Tool[] {
    return task.suite === 'search' ? worldTools(this.#world) : [codeTool(this.#sandbox)]
  }

  around(task: Task, changes: Partial<Surroundings> = {}): Surroundings {
    return {
      grammar: builtinGrammars.get(task.domain)!,
      tools: this.toolsFor(task),
      countTokens: (messages, written) => ({
        prompt: encodePrompt(tokenizer, messages).length,
        completion: tokenizer.encodeIds(written, { specials: 'text' }).length,
      }),
      check: { sandbox: this.#sandbox },
      signal: new AbortController().signal,
      ...changes,
    }
  }

  async close(): Promise<void> {
    await this.#world.close()
    await this.#sandbox.close()
  }
}
