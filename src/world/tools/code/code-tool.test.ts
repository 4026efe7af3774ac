import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Sandbox, SandboxRequest, SandboxResult } from '../../sandbox/index.ts'
import { callTool } from '../call-tool.ts'
import { codeTool } from './code-tool.ts'

const payload = { syntax: 'code' as const, language: 'py', code: 'print(3)' }

/** Answers after a while, as a sandbox does whose interpreter has to be loaded first. */
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
  it('begins when the program starts, not when it is asked for', async () => {
    const { sandbox, requests } = sandboxThat({ stdout: '3\n' }, 200)
    const result = await callTool(codeTool(sandbox), payload, { timeoutMs: 50 })
    expect(result).toMatchObject({ ok: true, text: '3' })
    expect(requests[0]?.limits).toEqual({ wallMs: 50 })
  })

  it('says nothing about a program that the machine had no time for', async () => {
    const { sandbox } = sandboxThat({ exit: null, timedOut: true, starved: true })
    const result = await callTool(codeTool(sandbox), payload)
    expect(result).toMatchObject({ ok: false, environment: true, text: expect.stringMatching(/too busy/) })
  })

  it('tells the model about a program that is too slow', async () => {
    const { sandbox } = sandboxThat({ exit: null, timedOut: true })
    const result = await callTool(codeTool(sandbox), payload)
    expect(result).toMatchObject({ ok: true, text: expect.stringMatching(/ran too long/) })
  })

  it('still ends when the caller gives up', async () => {
    const { sandbox } = sandboxThat({}, 5_000)
    const signal = AbortSignal.timeout(50)
    await expect(callTool(codeTool(sandbox), payload, { signal })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
  })
})
