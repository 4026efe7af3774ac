import type { CheckContext } from '../../reward/index.ts'
import { type ProjectConfig, readEnvironment } from '../../settings/index.ts'

/** What checking an answer may need, opened only where it is needed: the sandbox for programs, the judge for prose. */
export async function checkContext(
  config: ProjectConfig,
  checkers: ReadonlySet<string>,
): Promise<{ context: CheckContext; close: () => Promise<void> }> {
  const context: CheckContext = {}
  let close = async (): Promise<void> => {}
  if (checkers.has('code')) {
    const { openSandbox } = await import('../../world/sandbox/index.ts')
    const sandbox = await openSandbox(config.sandbox)
    context.sandbox = sandbox
    close = () => sandbox.close()
  }
  if (checkers.has('judge')) {
    const { modelFromSettings, promptFunction } = await import('../../world/models/index.ts')
    const { createJudge } = await import('../../reward/index.ts')
    const model = modelFromSettings('judge', config.judge, readEnvironment())
    if (model !== undefined)
      context.judge = createJudge({ model: promptFunction(model), modelName: model.name })
  }
  return { context, close }
}
