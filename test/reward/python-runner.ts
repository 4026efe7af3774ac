import { spawn } from 'node:child_process'
import type { CodeResult, CodeSandbox } from '../../src/reward/index.ts'

/**
 * Runs Python without any protection, for the tests of answer checking: they are about what a program can make the
 * checker believe, not about what it can do to the machine.
 */
export const pythonRunner: CodeSandbox = {
  run: ({ code, stdin = '', limits = {} }, { signal } = {}) =>
    new Promise<CodeResult>((resolve, reject) => {
      const started = performance.now()
      const child = spawn('python3', ['-I', '-c', code], {
        stdio: 'pipe',
        ...(signal === undefined ? {} : { signal }),
      })
      const limit = limits.outputBytes ?? 1_000_000
      let [stdout, stderr, timedOut, truncated] = ['', '', false, false]
      const timer = setTimeout(() => {
        timedOut = true
        child.kill('SIGKILL')
      }, limits.wallMs ?? 5_000)
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        if (stdout.length + text.length > limit) {
          truncated = true
          child.kill('SIGKILL')
        } else stdout += text
      })
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text.slice(0, limit)
      })
      // A program that ends without reading its input closes the pipe.
      child.stdin.on('error', () => undefined)
      child.stdin.end(stdin)
      child.on('error', reject)
      child.on('close', (exit) => {
        clearTimeout(timer)
        resolve({ stdout, stderr, exit, timedOut, truncated, ms: performance.now() - started })
      })
    }),
}
