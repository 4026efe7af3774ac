import { createContext, Script } from 'node:vm'
import { TokenizerError } from '../../base/errors/index.ts'

/**
 * A model's files may hold patterns and templates that never come to an end, whatever a check of their form says. Only V8
 * itself can stop them. These times are a hundred times what real ones take, and more for short texts.
 */
const LEAST_MS = 2000
const MS_PER_CHARACTER = 0.02

const context: { run?: () => void } = createContext({})
const script = new Script('run()')

/** Does something that works on `characters` of text, and gives up where it takes far longer than it should. */
export function withinTimeLimit<T>(what: string, characters: number, work: () => T, least = LEAST_MS): T {
  let result: { value: T } | undefined
  context.run = () => {
    result = { value: work() }
  }
  const timeout = Math.ceil(least + MS_PER_CHARACTER * characters)
  try {
    script.runInContext(context, { timeout })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw cause
    throw new TokenizerError(`${what} did not come to an end within ${timeout / 1000} s.`, {
      fix: 'Use the files of a model you trust; these would hang any program that uses them.',
    })
  }
  return result!.value
}
