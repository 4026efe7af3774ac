import { z } from 'zod'
import { SandboxError } from '../../../base/errors/index.ts'
import type { Sandbox, SandboxResult } from '../../sandbox/index.ts'
import type { Tool } from '../contract.ts'

const Input = z.object({
  language: z.enum(['python', 'javascript']),
  code: z.string().min(1),
  stdin: z.string().optional(),
})

const languages: Record<string, 'python' | 'javascript'> = {
  py: 'python',
  python: 'python',
  js: 'javascript',
  javascript: 'javascript',
}

/** The code agent: runs a program in the sandbox and returns its output. */
export function codeTool(sandbox: Sandbox): Tool<z.infer<typeof Input>> {
  return {
    name: 'code',
    description: 'Run a Python program. Only its output is returned, so print what you need.',
    payload: { syntax: 'code', languages: ['py', 'python'], stdin: true },
    input: Input,
    fromPayload: (payload) =>
      payload.syntax === 'code'
        ? { language: languages[payload.language.toLowerCase()], code: payload.code, stdin: payload.stdin }
        : payload,
    // A program may depend on the clock or on randomness.
    cacheable: false,
    ownTimeLimit: true,
    execute: async ({ language, code, stdin }, { signal, timeoutMs }) => {
      const limits = timeoutMs === undefined ? {} : { wallMs: Math.max(10, Math.round(timeoutMs)) }
      const result = await sandbox.run(
        { language, code, ...(stdin === undefined ? {} : { stdin }), limits },
        { signal },
      )
      if (result.starved === true) {
        throw new SandboxError('the machine was too busy to give the program its CPU time')
      }
      const parts = [
        result.stdout.trimEnd(),
        ...(result.stderr.trim() === '' ? [] : [`stderr:\n${result.stderr.trimEnd()}`]),
        ...(result.timedOut ? ['The program ran too long and was stopped.'] : []),
        ...(result.truncated ? ['The output was too long and was truncated.'] : []),
        ...(result.outOfMemory === true ? ['The program ran out of memory.'] : []),
        ...ending(result),
      ].filter((part) => part !== '')
      const text = parts.length === 0 ? 'The program printed nothing.' : parts.join('\n')
      return { text, provenance: { exit: result.exit, ms: Math.round(result.ms), driver: result.driver } }
    },
  }
}

function ending({ timedOut, outOfMemory, exit, signal }: SandboxResult): string[] {
  if (timedOut || outOfMemory === true || exit === 0) return []
  return [
    exit === null
      ? `The program was stopped${signal === undefined ? '' : ` by ${signal}`}.`
      : `The program ended with exit code ${exit}.`,
  ]
}
