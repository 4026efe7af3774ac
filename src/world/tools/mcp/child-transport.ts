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

/** A server may greet or warn on standard output; one that does little else does not speak the protocol. */
const MOST_OTHER_LINES = 100
/** A result with pictures is long; a line without an end is no result. */
const LONGEST_LINE = 64_000_000
const KEPT_COMPLAINTS = 10_000
/** What a server has written may still be on its way when it has ended. */
const LAST_WORDS_MS = 200
const END_BY_ITSELF_MS = 1000
const END_ON_SIGNAL_MS = 1000

/**
 * A server as a child process that speaks over its standard input and output. Unlike the library's transport it ends the
 * processes that the server has started too, does not wait for pipes that one of them holds open, and gives up on a
 * server that writes something else than the protocol.
 */
export class ChildTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** Why we stopped listening, if we did. Kept apart from what the server says, which may complain about just that. */
  gaveUp: string | undefined
  readonly #command: ChildCommand
  #child: ChildProcess | undefined
  #exited: Promise<void> = Promise.resolve()
  #line: Buffer[] = []
  #lineLength = 0
  #otherLines = 0
  #complaints = ''

  constructor(command: ChildCommand) {
    this.#command = command
  }

  /** The line of the server's standard error that most likely says why it ended. */
  get lastWords(): string | undefined {
    const lines = this.#complaints.split('\n').filter((line) => line.trim() !== '')
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
      // A group of its own, so that it can be ended with all that it has started. Windows finds npx only with a shell.
      ...(isWindows ? { shell: true, windowsHide: true } : { detached: true }),
      ...(cwd === undefined ? {} : { cwd }),
    })
    this.#child = child
    const endGroup = (): void => signalGroup(child, 'SIGKILL')
    process.once('exit', endGroup)
    this.#exited = new Promise((resolve) => {
      child.once('exit', () => {
        process.off('exit', endGroup)
        resolve()
        void this.#ended(child)
      })
      child.once('error', () => {
        process.off('exit', endGroup)
        resolve()
      })
    })
    child.stdin.on('error', (error) => this.onerror?.(error))
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      this.#complaints = (this.#complaints + chunk.toString('utf8')).slice(-KEPT_COMPLAINTS)
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
      return Promise.reject(new SdkError(SdkErrorCode.NotConnected, 'the server has ended'))
    return new Promise((resolve) => {
      if (stdin.write(serializeMessage(message))) resolve()
      else stdin.once('drain', resolve)
    })
  }

  /** By itself if it will, else by force. */
  async close(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    child.stdin?.end()
    await Promise.race([this.#exited, sleep(END_BY_ITSELF_MS)])
    signalGroup(child, 'SIGTERM')
    await Promise.race([this.#exited, sleep(END_ON_SIGNAL_MS)])
    signalGroup(child, 'SIGKILL')
    await this.#ended(child)
  }

  /** The server is gone; others of its group and the pipes they hold must not outlive it. */
  async #ended(child: ChildProcess): Promise<void> {
    if (this.#child === child) await sleep(LAST_WORDS_MS)
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
      if (!this.#take(line)) return
    }
    this.#lineLength += chunk.length - from
    this.#line.push(chunk.subarray(from))
    if (this.#lineLength > LONGEST_LINE) this.#giveUp(`it wrote a line of more than ${LONGEST_LINE} bytes`)
  }

  /** False when no more should be read. */
  #take(line: string): boolean {
    if (line.trim() === '') return true
    let message: JSONRPCMessage
    try {
      message = deserializeMessage(line)
    } catch {
      this.#otherLines++
      if (this.#otherLines <= MOST_OTHER_LINES) return true
      this.#giveUp(`it wrote ${MOST_OTHER_LINES} lines that are not messages of the protocol`)
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
    // Nobody is left in it.
  }
}
