import { z } from 'zod'
import { defaultCpuMs, patience } from './time-limits.ts'

export const Language = z.enum(['python', 'javascript'])
export type Language = z.infer<typeof Language>

export const DriverName = z.enum(['bubblewrap', 'pyodide', 'quickjs'])
export type DriverName = z.infer<typeof DriverName>

const megabyte = 2 ** 20

const LimitFields = z.object({
  /**
   * Processor time of all its processes: the limit that decides whether a program is too slow, because it does not
   * depend on what else the machine is doing. A program that sleeps is stopped after twice as long.
   * By default 5 s, or half the wall limit where that is shorter.
   */
  cpuMs: z.number().int().min(10).max(3_600_000).optional(),
  /**
   * From the start of the program to its end; everything it started is killed then. It bounds how long a run blocks
   * others and says nothing about the program (`starved`). By default twenty times the processor time.
   */
  wallMs: z.number().int().min(10).max(36_000_000).optional(),
  /** Of one process; a tree of processes is stopped at twice as much. */
  memoryMb: z.number().int().min(16).max(65_536).default(256),
  /** Kept of stdout, and as much of stderr. */
  outputBytes: z.number().int().min(0).default(65_536),
  /** Processes and threads alive at the same time. Node's own threads do not count. */
  processes: z.number().int().min(1).max(4_096).default(16),
  /** The largest file, and the size of each folder that can be written to. */
  fileBytes: z
    .number()
    .int()
    .min(0)
    .default(16 * megabyte),
})
export const SandboxLimits = LimitFields.transform(({ cpuMs, wallMs, ...others }) => {
  const cpu = cpuMs ?? Math.min(defaultCpuMs, Math.ceil((wallMs ?? Number.POSITIVE_INFINITY) / 2))
  return { ...others, cpuMs: cpu, wallMs: wallMs ?? patience * cpu }
})
export type SandboxLimits = z.infer<typeof SandboxLimits>

/** A file's place below the work folder. Nothing that could leave it, and nothing a file system would refuse. */
const FilePath = z
  .string()
  .min(1)
  .max(200)
  .refine((path) => !path.includes('\0') && !path.includes('\\'), 'has a character no file name may have')
  .refine(
    (path) => path.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
    'must be a plain path below the work folder',
  )

export const SandboxRequest = z.object({
  language: Language,
  code: z.string(),
  stdin: z.string().default(''),
  /**
   * Code of ours, such as that which decides on answers: it runs where no program of a model has run before, so that
   * nothing one has left behind can change what it says.
   */
  trusted: z.boolean().default(false),
  limits: SandboxLimits.prefault({}),
  /** Laid into the work folder, which is also the current one, beside the program. */
  files: z
    .record(FilePath, z.string())
    .refine((files) => Object.keys(files).length <= 200, 'at most 200 files')
    .refine((files) => !('main.py' in files || 'main.js' in files), 'main.py and main.js are the program')
    .default({}),
})
/** A request with every default filled in: what a driver gets. */
export type ResolvedRequest = z.infer<typeof SandboxRequest>
export type SandboxRequest = z.input<typeof SandboxRequest>

/** What a program did. A program that failed, hung or attacked is a result like any other. */
export interface SandboxResult {
  stdout: string
  stderr: string
  /** Null when it did not end by itself. */
  exit: number | null
  /** What ended it, such as SIGKILL at a limit or SIGSEGV by its own fault. */
  signal?: string
  /** It reached a time limit. */
  timedOut: boolean
  /** That was the wall limit, before the program had used up its own time: the machine was too busy to tell. */
  starved?: boolean
  /** It wrote more than is kept; one that went on was stopped. */
  truncated: boolean
  /** It wanted more memory than it may have. */
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
  /** Ends everything that still runs. */
  close(): Promise<void>
}
