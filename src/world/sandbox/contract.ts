import { z } from 'zod'
import { defaultCpuMs, wallTimeFactor } from './time-limits.ts'

export const Language = z.enum(['python', 'javascript'])
export type Language = z.infer<typeof Language>

export const DriverName = z.enum(['bubblewrap', 'pyodide', 'quickjs'])
export type DriverName = z.infer<typeof DriverName>

const megabyte = 2 ** 20

const LimitFields = z.object({
  /**
   * CPU time of all its processes. This is the limit that decides whether a program is too slow, because it does not
   * depend on the load of the machine. A sleeping program is stopped after twice as long. Default: 5 s, or half the
   * wall limit if that is shorter.
   */
  cpuMs: z.number().int().min(10).max(3_600_000).optional(),
  /**
   * Wall time from start to end; then everything the program started is killed. It limits how long a run blocks
   * others and says nothing about the program (`starved`). Default: twenty times the CPU time.
   */
  wallMs: z.number().int().min(10).max(36_000_000).optional(),
  /** Per process; a process tree is stopped at twice as much. */
  memoryMb: z.number().int().min(16).max(65_536).default(256),
  /** Bytes of stdout to keep, and as many of stderr. */
  outputBytes: z.number().int().min(0).default(65_536),
  /** Maximum number of processes and threads. Node's own threads do not count. */
  processes: z.number().int().min(1).max(4_096).default(16),
  /** Maximum file size, and the size of each writable folder. */
  fileBytes: z
    .number()
    .int()
    .min(0)
    .default(16 * megabyte),
})
export const SandboxLimits = LimitFields.transform(({ cpuMs, wallMs, ...others }) => {
  const cpu = cpuMs ?? Math.min(defaultCpuMs, Math.ceil((wallMs ?? Number.POSITIVE_INFINITY) / 2))
  return { ...others, cpuMs: cpu, wallMs: wallMs ?? wallTimeFactor * cpu }
})
export type SandboxLimits = z.infer<typeof SandboxLimits>

/** A file path relative to the working folder. Nothing that could escape it, and nothing a file system would reject. */
const FilePath = z
  .string()
  .min(1)
  .max(200)
  .refine(
    (path) => !path.includes('\0') && !path.includes('\\'),
    'contains a character that is not allowed in file names',
  )
  .refine(
    (path) => path.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
    'must be a relative path inside the working folder',
  )

export const SandboxRequest = z.object({
  language: Language,
  code: z.string(),
  stdin: z.string().default(''),
  /**
   * Our own code, such as an answer checker: it runs in a process that has never run model-written code, so that
   * nothing left behind can change its result.
   */
  trusted: z.boolean().default(false),
  limits: SandboxLimits.prefault({}),
  /** Written to the working folder, next to the program. */
  files: z
    .record(FilePath, z.string())
    .refine((files) => Object.keys(files).length <= 200, 'at most 200 files')
    .refine((files) => !('main.py' in files || 'main.js' in files), 'main.py and main.js are the program')
    .default({}),
})
/** A request with all defaults filled in, as passed to drivers. */
export type ResolvedRequest = z.infer<typeof SandboxRequest>
export type SandboxRequest = z.input<typeof SandboxRequest>

/** The outcome of a program. A program that fails, hangs or attacks is a result like any other. */
export interface SandboxResult {
  stdout: string
  stderr: string
  /** Null if it was killed. */
  exit: number | null
  /** The signal that ended it, such as SIGKILL at a limit or SIGSEGV after a crash. */
  signal?: string
  /** It reached a time limit. */
  timedOut: boolean
  /** It reached the wall limit before using up its CPU time: the machine was too busy to judge the program. */
  starved?: boolean
  /** It wrote more than is kept; a program that continues to write is stopped. */
  truncated: boolean
  /** It exceeded its memory limit. */
  outOfMemory?: boolean
  ms: number
  driver: DriverName
}

export interface RunOptions {
  /** Stops the program; `run` then rejects with the signal's reason. */
  signal?: AbortSignal
}

export interface SandboxDriver {
  readonly name: DriverName
  readonly languages: readonly Language[]
  run(request: ResolvedRequest, options?: RunOptions): Promise<SandboxResult>
  /** Kills everything that is still running. */
  close(): Promise<void>
}
