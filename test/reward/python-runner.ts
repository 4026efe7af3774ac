import { spawn } from 'node:child_process'
import type { CodeResult, CodeSandbox } from '../../src/reward/index.ts'
import { SandboxLimits } from '../../src/world/sandbox/index.ts'

/**
 * Runs Python without any isolation, for the tests of answer checking: they test what a program can make the checker
 * believe, not what it can do to the machine.
 */
export const pythonRunner: CodeSandbox = {
  run: ({ code, stdin = '', limits = {} }, { signal } = {}) =>
    new Promise<CodeResult>((resolve, reject) => {
      const started = performance.now()
      const { cpuMs, wallMs, outputBytes } = SandboxLimits.parse(limits)
      const limited = `ulimit -t ${Math.ceil(cpuMs / 1000)} && exec python3 -I -c "$1"`
      const child = spawn('/bin/sh', ['-c', limited, 'sh', code], {
        stdio: 'pipe',
        ...(signal === undefined ? {} : { signal }),
      })
      let [stdout, stderr, starved, truncated] = ['', '', false, false]
      const timer = setTimeout(() => {
        starved = true
        child.kill('SIGKILL')
      }, wallMs)
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        if (stdout.length + text.length > outputBytes) {
          truncated = true
          child.kill('SIGKILL')
        } else stdout += text
      })
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text.slice(0, outputBytes)
      })
      // A program that exits without reading its input closes the pipe.
      child.stdin.on('error', () => undefined)
      child.stdin.end(stdin)
      child.on('error', reject)
      child.on('close', (exit, killedBy) => {
        clearTimeout(timer)
        const timedOut = starved || killedBy === 'SIGXCPU' || (killedBy === 'SIGKILL' && !truncated)
        const more = starved ? { starved } : {}
        resolve({ stdout, stderr, exit, timedOut, truncated, ...more, ms: performance.now() - started })
      })
    }),
}
