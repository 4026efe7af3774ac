import { z } from 'zod'
import { CoaError, SandboxError, UsageError } from '../../base/errors/index.ts'
import { type BubblewrapOptions, openBubblewrap } from './bubblewrap/driver.ts'
import {
  type DriverName,
  type Language,
  type RunOptions,
  type SandboxDriver,
  SandboxRequest,
  type SandboxResult,
} from './contract.ts'
import { openPyodide } from './pyodide/driver.ts'
import { openQuickjs } from './quickjs/driver.ts'

export interface SandboxOptions extends BubblewrapOptions {
  /**
   * `auto` picks the strongest working driver for each language: bubblewrap if a test program runs in it, otherwise
   * pyodide for Python and quickjs for JavaScript.
   */
  driver?: 'auto' | DriverName
}

export interface SandboxDescription {
  language: Language
  /** Undefined if no driver runs the language. */
  driver: DriverName | undefined
  why: string
}

export interface Sandbox {
  /**
   * Runs a program and reports the outcome. Throws a SandboxError only if the sandbox itself fails, a UsageError for
   * an invalid request, and the signal's reason if it is aborted.
   */
  run(request: SandboxRequest, options?: RunOptions): Promise<SandboxResult>
  /** Which driver runs which language, and why. */
  describe(): SandboxDescription[]
  /** Kills everything that is still running. Idle workers end with the process anyway. */
  close(): Promise<void>
}

interface Choice {
  driver: SandboxDriver | undefined
  why: string
}

/**
 * Opens a sandbox for model-written code. What each driver isolates, and what it does not, is documented in docs/55-answers.md.
 *
 * @example
 * import { openSandbox } from 'chain-of-agents'
 *
 * const sandbox = await openSandbox()
 * const { stdout, timedOut } = await sandbox.run({ language: 'python', code: 'print(6 * 7)' })
 * console.log(stdout, timedOut)
 * await sandbox.close()
 */
export async function openSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const choices = await choose(options)
  const drivers = new Set(
    [...choices.values()].flatMap(({ driver }) => (driver === undefined ? [] : [driver])),
  )
  let closed = false
  return {
    async run(request, runOptions) {
      const parsed = SandboxRequest.safeParse(request)
      if (!parsed.success) {
        throw new UsageError(`invalid sandbox request: ${z.prettifyError(parsed.error)}`)
      }
      if (closed) throw new SandboxError('the sandbox was closed')
      const { language } = parsed.data
      const choice = choices.get(language)
      if (choice?.driver === undefined) {
        throw new SandboxError(`no sandbox for ${language}: ${choice?.why ?? 'it was not requested'}`, {
          fix: "Open the sandbox with driver 'auto'.",
        })
      }
      return choice.driver.run(parsed.data, runOptions)
    },
    describe: () =>
      [...choices].map(([language, { driver, why }]) => ({ language, driver: driver?.name, why })),
    async close() {
      closed = true
      await Promise.all([...drivers].map((driver) => driver.close()))
    },
  }
}

async function choose(options: SandboxOptions): Promise<Map<Language, Choice>> {
  const languages = ['python', 'javascript'] as const
  const choices = new Map<Language, Choice>()
  for (const language of languages) choices.set(language, await chooseFor(language, options))
  return choices
}

async function chooseFor(language: Language, options: SandboxOptions): Promise<Choice> {
  const wanted = options.driver ?? 'auto'
  const fallback = language === 'python' ? 'pyodide' : 'quickjs'
  const openFallback = (): SandboxDriver => (language === 'python' ? openPyodide : openQuickjs)(options)
  if (wanted === fallback) return { driver: openFallback(), why: 'requested' }
  if (wanted !== 'bubblewrap' && wanted !== 'auto') {
    return {
      driver: undefined,
      why: `${wanted} runs ${language === 'python' ? 'JavaScript' : 'Python'} only`,
    }
  }
  try {
    const driver = await openBubblewrap([language], options)
    const version = `${language === 'python' ? 'Python' : 'Node'} ${driver.versions[language]}`
    return {
      driver,
      why: wanted === 'auto' ? `strongest available driver, ${version}` : `requested, ${version}`,
    }
  } catch (error) {
    if (!CoaError.isInstance(error) || wanted === 'bubblewrap') throw error
    return { driver: openFallback(), why: `bubblewrap is not available: ${error.message}` }
  }
}
