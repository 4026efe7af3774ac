import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const launcher = fileURLToPath(new URL('../../bin/coa.js', import.meta.url))

export interface Outcome {
  code: number | null
  stdout: string
  stderr: string
}

/** The caller's environment without color settings and COA_ variables, which would affect the output. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(COA_|FORCE_COLOR$|NO_COLOR$|CI$)/.test(name)),
  )
}

/** Runs the command in a child process. */
export function coa(
  args: string[],
  options: { cwd?: string; input?: string; environment?: Record<string, string> } = {},
): Outcome {
  const { status, stdout, stderr } = spawnSync(process.execPath, [launcher, ...args], {
    encoding: 'utf8',
    maxBuffer: 256 * 2 ** 20,
    cwd: options.cwd,
    input: options.input,
    env: { ...cleanEnvironment(), ...options.environment },
  })
  return { code: status, stdout, stderr }
}

/** Runs it asynchronously, for commands that connect to a server in the test. */
export async function coaAsync(
  args: string[],
  options: { cwd: string; environment?: Record<string, string> },
): Promise<Outcome> {
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd: options.cwd,
    env: { ...cleanEnvironment(), ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { code: code as number | null, stdout, stderr }
}

/** Runs a command with --json and returns its parsed output. */
export function coaJson<T>(args: string[], options: Parameters<typeof coa>[1] = {}): T {
  const { code, stdout, stderr } = coa([...args, '--json'], options)
  if (code !== 0 && code !== 3) throw new Error(`coa ${args.join(' ')} exited ${code}: ${stderr}`)
  return JSON.parse(stdout) as T
}
