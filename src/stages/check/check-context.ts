import type { CheckContext } from '../../reward/index.ts'
import { readEnvironment } from '../../settings/index.ts'
import type { WorldConfig } from '../../world/settings.ts'

/** What the given checkers need: a sandbox for code, a judge model for prose. */
export async function checkContext(
  config: Pick<WorldConfig, 'sandbox' | 'judge' | 'tools'>,
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
    const { judgeFromSettings } = await import('../../world/judge/index.ts')
    const judge = judgeFromSettings(config, readEnvironment())
    if (judge !== undefined) context.judge = judge
  }
  return { context, close }
}
