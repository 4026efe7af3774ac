import type { Json, LoggedTool } from '../../../logs/index.ts'
import { isCode, toolName } from '../../../logs/index.ts'
import type { RecordOf, Trajectory } from '../../../schema/index.ts'
import type { Run } from '../../../store/index.ts'

type DeclaredTool = RecordOf<'tool'>

const CODE: DeclaredTool = {
  v: 1,
  id: 'code',
  description: 'Run a Python program. Only its output is returned, so print what you need.',
  payload: { syntax: 'code', languages: ['py', 'python'], stdin: true },
}

/** The tools of imported runs, so that the grammar of the run has an agent for each. */
export class DeclaredTools {
  readonly #tools = new Map<string, DeclaredTool>()
  readonly #offered = new Map<string, LoggedTool>()

  /** Tools a log says were offered. */
  offer(tools: readonly LoggedTool[]): void {
    for (const tool of tools) this.#offered.set(toolName(tool.name), tool)
  }

  /** A tool that was called. How it was called decides its payload: by fields, or with one text. */
  add({ events }: Trajectory): void {
    for (const event of events) {
      if (event.type !== 'tool-called' || this.#tools.has(event.tool)) continue
      this.#tools.set(event.tool, isCode(event.tool) ? CODE : this.#declare(event.tool, event.input as Json))
    }
  }

  /** Tools that were offered and never called: their parameters decide the payload. */
  addOffered(): void {
    for (const [offered, { name, description = `Call ${name}.`, parameters }] of this.#offered) {
      const id = isCode(name) ? CODE.id : offered
      if (this.#tools.has(id)) continue
      const payload: DeclaredTool['payload'] = { syntax: parameters === undefined ? 'text' : 'json' }
      this.#tools.set(id, id === CODE.id ? CODE : { v: 1, id, description, payload })
    }
  }

  /** Writes those that the run does not have yet. */
  write(run: Pick<Run, 'has' | 'append'>): number {
    const missing = [...this.#tools.values()].filter(({ id }) => !run.has('tool', id))
    for (const tool of missing) run.append('tool', tool)
    return missing.length
  }

  #declare(id: string, input: Json): DeclaredTool {
    const offered = this.#offered.get(id)
    const description = offered?.description ?? `Call ${offered?.name ?? id}.`
    const takesFields = typeof input === 'object' && input !== null && !Array.isArray(input)
    const payload: DeclaredTool['payload'] = takesFields ? { syntax: 'json' } : { syntax: 'text' }
    return { v: 1, id, description, payload }
  }
}
