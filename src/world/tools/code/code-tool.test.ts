import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Sandbox, SandboxRequest, SandboxResult } from '../../sandbox/index.ts'
import { callTool } from '../call-tool.ts'
import { codeTool } from './code-tool.ts'

const payload = { syntax: 'code' as const, language: 'py', code: 'print(3)' }

/** Responds after a delay, like a sandbox that has to load its interpreter first. */
function sandboxThat(result: Partial<SandboxResult>, waitMs = 0) {
  const requests: SandboxRequest[] = []
  const sandbox: Sandbox = {
    run: async (request) => {
      requests.push(request)
      await sleep(waitMs)
      const empty = { stdout: '', stderr: '', exit: 0, timedOut: false, truncated: false, ms: 1 }
      return { ...empty, driver: 'pyodide', ...result }
    },
    describe: () => [],
    close: async () => {},
  }
  return { sandbox, requests }
}

describe('the time limit of the code tool', () => {
  it('starts when the program starts, not when it is requested', async () => {
    const { sandbox, requests } = sandboxThat({ stdout: '3\n' }, 200)
    const result = await callTool(codeTool(sandbox), payload, { timeoutMs: 50 })
    expect(result).toMatchObject({ ok: true, text: '3' })
    expect(requests[0]?.limits).toEqual({ wallMs: 50 })
  })

  it('does not blame a program that the machine had no time for', async () => {
    const { sandbox } = sandboxThat({ exit: null, timedOut: true, starved: true })
    const result = await callTool(codeTool(sandbox), payload)
    expect(result).toMatchObject({ ok: false, environment: true, text: expect.stringMatching(/too busy/) })
  })

  it('reports a slow program to the model', async () => {
    const { sandbox } = sandboxThat({ exit: null, timedOut: true })
    const result = await callTool(codeTool(sandbox), payload)
    expect(result).toMatchObject({ ok: true, text: expect.stringMatching(/ran too long/) })
  })

  it('still stops when the caller aborts', async () => {
    const { sandbox } = sandboxThat({}, 5_000)
    const signal = AbortSignal.timeout(50)
    await expect(callTool(codeTool(sandbox), payload, { signal })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
  })
})
