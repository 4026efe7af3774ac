import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { randomWeights, saveCheckpoint } from '../../src/engine/index.ts'
import { byteTokenizerFiles } from '../../src/language/tokens/index.ts'
import { openServer } from '../../src/pipeline/open-server.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import type { Rollout } from '../../src/schema/index.ts'
import { byteModelShape } from '../engine/byte-model.ts'
import { act, scripted } from '../engine/openai/scripted-server.ts'
import { until } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-behind-'))
afterAll(() => rmSync(folder, { recursive: true }))
const files = byteTokenizerFiles()
saveCheckpoint(join(folder, 'model'), {
  shape: byteModelShape,
  weights: randomWeights(byteModelShape, 3),
  stage: 'sft',
  step: 0,
  createdAt: '2026-01-01T00:00:00Z',
  files: {
    'tokenizer.json': JSON.stringify(files.json),
    'tokenizer_config.json': JSON.stringify(files.config),
  },
})

it('passes on what an inference server writes as it is written, and stops it when the client leaves', async () => {
  const text = '<plan>Add.</plan><think>Done.</think><answer>It is 5.</answer>'
  const tokens = [...Buffer.from(text)]
  let release: () => void = () => {}
  /** As SGLang streams: each part has all tokens so far. */
  const part = (count: number): string =>
    `data: ${JSON.stringify({
      output_ids: tokens.slice(0, count),
      meta_info: {
        prompt_tokens: 9,
        completion_tokens: count,
        cached_tokens: 0,
        output_token_logprobs: tokens.slice(0, count).map((id) => [-0.25, id, null]),
        finish_reason: count < tokens.length ? null : { type: 'stop', matched: '</answer>' },
      },
    })}\n\n`
  const upstream = await scripted({
    '/v1/models': { data: [{ id: 'model', owned_by: 'sglang', max_model_len: 8192 }] },
    '/get_model_info': { model_path: 'model', is_generation: true },
    '/generate': (body: { sampling_params: { max_new_tokens: number } }) =>
      act((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        // The engine first asks for a token to see what the server reports.
        if (body.sampling_params.max_new_tokens === 1) return response.end(`${part(1)}data: [DONE]\n\n`)
        response.write(part(text.indexOf('5')))
        release = () => response.end(`${part(tokens.length)}data: [DONE]\n\n`)
      }),
  })
  const rollouts: Rollout[] = []
  const server = await openServer(
    ProjectConfig.parse({
      student: { model: join(folder, 'model') },
      engine: { driver: 'openai', url: upstream.url },
      language: { grammar: 'math' },
      sandbox: { driver: 'pyodide' },
      serve: { port: 0 },
    }),
    { onRollout: (rollout) => void rollouts.push(rollout) },
  )
  const ask = (signal?: AbortSignal): Promise<Response> =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'model', stream: true, messages: [{ role: 'user', content: '2 + 3?' }] }),
      ...(signal === undefined ? {} : { signal }),
    })
  try {
    let seen = ''
    for await (const bytes of (await ask()).body!) {
      seen += Buffer.from(bytes).toString()
      // The answer has begun, and the server has not finished it.
      if (seen.includes('"content":"s"')) release()
    }
    expect(seen).toContain('"content":" 5"')
    expect(rollouts[0]).toMatchObject({ answer: 'It is 5.', checkpoint: upstream.url })
    expect(rollouts[0]!.spans.flatMap(({ tokens: own = [] }) => own)).toEqual(tokens)

    const leaving = new AbortController()
    const calls = upstream.calls.length
    const response = await ask(leaving.signal)
    await until(() => upstream.calls.length > calls)
    leaving.abort()
    await response.text().catch(() => {})
    await until(() => upstream.calls.at(-1)!.left)
    expect(rollouts).toHaveLength(1)

    const picking = async (pick: string): Promise<unknown> => {
      const fields = { model: 'model', input: 'Hi', coa: { best_of: 2, pick } }
      const headers = { 'content-type': 'application/json' }
      const answered = await fetch(`${server.url}/v1/responses`, {
        method: 'POST',
        headers,
        body: JSON.stringify(fields),
      })
      return [answered.status, ((await answered.json()) as { error: { message: string } }).error.message]
    }
    expect(await picking('score')).toEqual([400, expect.stringContaining('no double_check agent')])
    expect(await picking('judge')).toEqual([400, expect.stringContaining('no judge model')])
  } finally {
    await server.stop()
    upstream.close()
  }
})
