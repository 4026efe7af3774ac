import { createContext, Script } from 'node:vm'
import { TokenizerError } from '../../base/errors/index.ts'

/**
 * A model's files may contain patterns and templates that never terminate, which no static check can rule out. Only
 * V8 itself can stop them. These limits are a hundred times what real ones take, and more for short texts.
 */
const MIN_MS = 2000
const MS_PER_CHARACTER = 0.02

const context: { run?: () => void } = createContext({})
const script = new Script('run()')

/** Runs work on a text of this many characters, and aborts it if it takes far longer than it should. */
export function withinTimeLimit<T>(what: string, characters: number, work: () => T, least = MIN_MS): T {
  let result: { value: T } | undefined
  context.run = () => {
    result = { value: work() }
  }
  const timeout = Math.ceil(least + MS_PER_CHARACTER * characters)
  try {
    script.runInContext(context, { timeout })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw cause
    throw new TokenizerError(`${what} did not finish within ${timeout / 1000} s.`, {
      fix: 'Use files from a model you trust; these would hang any program that uses them.',
    })
  }
  return result!.value
}
