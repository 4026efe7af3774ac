import { type Grammar, projectGrammars, type ToolAgent } from '../language/grammar/index.ts'
import { readEnvironment } from '../settings/index.ts'
import type { Run } from '../store/index.ts'
import { type Judge, judgeFromSettings } from './judge/index.ts'
import { agentOf, declareTools } from './run-tools.ts'
import { openSandbox, type Sandbox } from './sandbox/index.ts'
import type { WorldConfig } from './settings.ts'
import { type CallOptions, openToolbox, type Tool, ToolCache } from './tools/index.ts'

/** The tools, grammar and checkers for a task: the same in teaching, training, solving and evaluation. */
export interface World {
  grammarOf(task: { domain: string }): Promise<Grammar>
  toolsOf(task: { meta: Record<string, unknown> }): Promise<readonly Tool[]>
  calling: Pick<CallOptions, 'timeoutMs' | 'outputLimit' | 'cache'>
  /** Used to check answers. */
  check: { sandbox?: Sandbox; judge?: Judge }
  close(): Promise<void>
}

/** Tools supplied by a task. They replace configured tools of the same name. */
export interface TaskTools {
  of(task: { meta: Record<string, unknown> }): Promise<Tool[]>
  close(): Promise<void>
}

/**
 * Builds the world described by the settings; the only place that does. Tools added in the settings become part of
 * every grammar and are recorded in the run, so that its other stages know them too.
 */
export async function openWorld(
  config: WorldConfig,
  { taskTools, run }: { taskTools: TaskTools; run?: Run | undefined },
): Promise<World> {
  const { tools: calls } = config
  const judge = judgeFromSettings(config, readEnvironment())
  const toolbox = openToolbox(config, readEnvironment())
  let tools: ToolAgent[]
  let sandbox: Sandbox
  try {
    const added = await toolbox.added()
    tools = run === undefined ? added.map(agentOf) : declareTools(run, added)
    sandbox = await openSandbox(config.sandbox)
  } catch (error) {
    await toolbox.close()
    throw error
  }
  const grammarNamed = projectGrammars({ ...config.language, tools })
  let configured: Promise<Tool[]> | undefined
  return {
    grammarOf: (task) => grammarNamed(task.domain),
    async toolsOf(task) {
      configured ??= toolbox
        .states()
        .then((states) => states.flatMap(({ tool }) => (tool === undefined ? [] : [tool])))
      const own = await taskTools.of(task)
      const names = new Set(own.map(({ name }) => name))
      return [...own, ...(await configured).filter(({ name }) => !names.has(name))]
    },
    calling: {
      timeoutMs: Math.ceil(calls.timeout_s * 1000),
      outputLimit: calls.output_limit,
      ...(calls.cache === '' ? {} : { cache: new ToolCache(calls.cache) }),
    },
    check: { sandbox, ...(judge === undefined ? {} : { judge }) },
    async close() {
      await taskTools.close()
      await toolbox.close()
      await sandbox.close()
    },
  }
}
