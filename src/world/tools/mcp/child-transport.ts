import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  deserializeMessage,
  type JSONRPCMessage,
  SdkError,
  SdkErrorCode,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'

export interface ChildCommand {
  command: string
  args?: readonly string[]
  env?: Record<string, string>
  cwd?: string
}

/**
 * A server may print a greeting or warnings on standard output; one that prints little else does not use the
 * protocol.
 */
const MAX_OTHER_LINES = 100
/** Results with images are long, but a line without an end is not a result. */
const MAX_LINE_BYTES = 64_000_000
const KEPT_STDERR = 10_000
/** Output may still be in transit when a server has exited. */
const DRAIN_MS = 200
const EXIT_GRACE_MS = 1000
const SIGTERM_GRACE_MS = 1000

/**
 * An MCP server as a child process that communicates over standard input and output. Unlike the library's transport
 * it also kills the processes that the server started, does not wait for pipes that one of them holds open, and gives
 * up on a server that writes anything other than the protocol.
 */
export class ChildTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** Why we stopped reading, if we did. Separate from the server's stderr, which may complain about exactly that. */
  gaveUp: string | undefined
  readonly #command: ChildCommand
  #child: ChildProcess | undefined
  #exited: Promise<void> = Promise.resolve()
  #line: Buffer[] = []
  #lineLength = 0
  #otherLines = 0
  #stderr = ''

  constructor(command: ChildCommand) {
    this.#command = command
  }

  /** The line of the server's standard error that most likely explains why it exited. */
  get exitReason(): string | undefined {
    const lines = this.#stderr.split('\n').filter((line) => line.trim() !== '')
    if (!/^Node\.js v\d/.test(lines.at(-1) ?? '')) return lines.at(-1)?.trim()
    // When Node.js crashes, it prints the error first, then the stack, and its own version last.
    return (lines.findLast((line) => /^\[?\w*Error\b/.test(line)) ?? lines.at(-2))?.trim()
  }

  start(): Promise<void> {
    const { command, args = [], env, cwd } = this.#command
    const isWindows = process.platform === 'win32'
    const quoted = (word: string): string => (isWindows ? `"${word.replaceAll('"', '\\"')}"` : word)
    const child = spawn(quoted(command), args.map(quoted), {
      env: { ...getDefaultEnvironment(), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      // A separate process group, so that it can be killed with everything it started. Windows finds npx only with a
      // shell.
      ...(isWindows ? { shell: true, windowsHide: true } : { detached: true }),
      ...(cwd === undefined ? {} : { cwd }),
    })
    this.#child = child
    const killGroup = (): void => signalGroup(child, 'SIGKILL')
    process.once('exit', killGroup)
    this.#exited = new Promise((resolve) => {
      child.once('exit', () => {
        process.off('exit', killGroup)
        resolve()
        void this.#cleanUp(child)
      })
      child.once('error', () => {
        process.off('exit', killGroup)
        resolve()
      })
    })
    child.stdin.on('error', (error) => this.onerror?.(error))
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-KEPT_STDERR)
    })
    return new Promise((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (error) => {
        reject(error)
        this.onerror?.(error)
      })
    })
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#child ?? {}
    if (stdin == null || !stdin.writable)
      return Promise.reject(new SdkError(SdkErrorCode.NotConnected, 'the server has exited'))
    return new Promise((resolve) => {
      if (stdin.write(serializeMessage(message))) resolve()
      else stdin.once('drain', resolve)
    })
  }

  /** Lets it exit by itself if possible, otherwise kills it. */
  async close(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    child.stdin?.end()
    await Promise.race([this.#exited, sleep(EXIT_GRACE_MS)])
    signalGroup(child, 'SIGTERM')
    await Promise.race([this.#exited, sleep(SIGTERM_GRACE_MS)])
    signalGroup(child, 'SIGKILL')
    await this.#cleanUp(child)
  }

  /** The server has exited; the rest of its group and the pipes they hold must not outlive it. */
  async #cleanUp(child: ChildProcess): Promise<void> {
    if (this.#child === child) await sleep(DRAIN_MS)
    if (this.#child !== child) return
    this.#child = undefined
    signalGroup(child, 'SIGKILL')
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe?.destroy()
    this.onclose?.()
  }

  #read(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...this.#line, chunk.subarray(from, end)]).toString('utf8')
      this.#line = []
      this.#lineLength = 0
      from = end + 1
      if (!this.#handleLine(line)) return
    }
    this.#lineLength += chunk.length - from
    this.#line.push(chunk.subarray(from))
    if (this.#lineLength > MAX_LINE_BYTES)
      this.#giveUp(`it wrote a line of more than ${MAX_LINE_BYTES} bytes`)
  }

  /** Returns false if no more should be read. */
  #handleLine(line: string): boolean {
    if (line.trim() === '') return true
    let message: JSONRPCMessage
    try {
      message = deserializeMessage(line)
    } catch {
      this.#otherLines++
      if (this.#otherLines <= MAX_OTHER_LINES) return true
      this.#giveUp(`it wrote ${MAX_OTHER_LINES} lines that are not protocol messages`)
      return false
    }
    this.onmessage?.(message)
    return true
  }

  #giveUp(reason: string): void {
    const child = this.#child
    if (child === undefined) return
    this.gaveUp = reason
    signalGroup(child, 'SIGKILL')
    child.stdout?.destroy()
    this.onerror?.(new SdkError(SdkErrorCode.ConnectionClosed, reason))
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid === undefined) return
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // The group is already empty.
  }
}
