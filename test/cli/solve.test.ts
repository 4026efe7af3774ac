import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Rollout, streamText } from '../../src/schema/index.ts'
import { Stream, scripted } from '../engine/openai/scripted-server.ts'
import { coa, coaAsync, coaJson } from './coa.ts'

/** Has a tool that coa does not have: solving is refused. */
const pictures = `
name = "pictures"
description = "Questions about pictures."
start = ["visual_inspector"]
[[agents]]
name = "visual_inspector"
kind = "tool"
description = "Look at a picture."
next = ["answer"]
[[agents]]
name = "observation"
kind = "observation"
description = "What the tool returned."
[[agents]]
name = "answer"
kind = "answer"
description = "Answer."
`

/** With constrained sampling, even a model with random weights completes this answer. */
const yesOrNo = `
name = "yes-or-no"
description = "Yes or no."
start = ["answer"]
[[agents]]
name = "answer"
kind = "answer"
description = "Say whether it is so."
[agents.payload]
syntax = "json"
[agents.payload.schema]
type = "object"
required = ["yes"]
additionalProperties = false
[agents.payload.schema.properties.yes]
type = "boolean"
`

interface Solved {
  question: string
  answer: string | null
  grammar: string
  seed: number
  tokens: { prompt: number; sampled: number; inserted: number }
  calls: number
  seconds: number
  pick?: { chosen: number | null; by: string; reason: string }
  rollouts: Rollout[]
}

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'coa-cli-solve-'))
  const sizes = ['--width', '32', '--heads', '4', '--layers', '1', '--context', '4096', '--seed', '3']
  expect(coa(['model', 'new', 'tiny', ...sizes], { cwd }).code).toBe(0)
  writeFileSync(join(cwd, 'yes.toml'), yesOrNo)
  writeFileSync(join(cwd, 'pictures.toml'), pictures)
})
afterAll(() => rmSync(cwd, { recursive: true }))

const tiny = ['-m', 'tiny', '-g', 'yes.toml', '--constrained', '--seed', '1']

describe('solve', () => {
  it('returns the answer with its rollout and cost', () => {
    const solved = coaJson<Solved>(['solve', 'Is it so?', ...tiny], { cwd })
    const [rollout, ...others] = solved.rollouts
    expect(others).toEqual([])
    expect(solved).toMatchObject({ question: 'Is it so?', grammar: 'yes-or-no', seed: 1, calls: 0 })
    expect(['{"yes":true}', '{"yes":false}']).toContain(solved.answer)
    expect(solved).not.toHaveProperty('pick')
    expect(rollout).toMatchObject({ stop: 'answer', answer: solved.answer, wellFormed: true })
    expect(rollout).not.toHaveProperty('verdict')
    // One byte is one token.
    expect(solved.tokens).toMatchObject({ sampled: Buffer.byteLength(streamText(rollout!)), inserted: 0 })
    expect(solved.tokens.prompt).toBe(rollout!.promptTokens!.length)
  })

  it('writes only the answer to standard output, and the chain to standard error', () => {
    const { answer, rollouts, tokens } = coaJson<Solved>(['solve', 'Is it so?', ...tiny], { cwd })
    const { code, stdout, stderr } = coa(['solve', ...tiny], { cwd, input: 'Is it so?\n' })
    expect(code).toBe(0)
    expect(stdout).toBe(`${answer}\n`)
    expect(stderr.startsWith(streamText(rollouts[0]!))).toBe(true)
    expect(stderr).toContain(`sampled ${tokens.sampled}, inserted 0), 0 calls, `)
  })

  it('uses a model on an inference server', async () => {
    const tokens = [...Buffer.from('<answer>{"yes":true}</answer>')]
    const reply = {
      output_ids: tokens,
      meta_info: {
        prompt_tokens: 9,
        completion_tokens: tokens.length,
        cached_tokens: 0,
        output_token_logprobs: tokens.map((id) => [-0.25, id, null]),
        finish_reason: { type: 'stop', matched: '</answer>' },
      },
    }
    const server = await scripted({
      '/v1/models': { data: [{ id: 'llama', owned_by: 'sglang', max_model_len: 4096 }] },
      '/get_model_info': { model_path: 'llama', is_generation: true },
      '/generate': () => new Stream([reply]),
    })
    try {
      const remote = ['-m', server.url, '--tokenizer', 'tiny', '-g', 'yes.toml', '--seed', '1']
      const { code, stdout, stderr } = await coaAsync(['solve', 'Is it so?', ...remote, '--json'], { cwd })
      expect({ code, stderr }).toMatchObject({ code: 0 })
      const solved = JSON.parse(stdout) as Solved
      expect(solved).toMatchObject({ answer: '{"yes":true}', tokens: { sampled: tokens.length } })
      expect(solved.rollouts[0]!.checkpoint).toBe(server.url)
      expect(server.requestsTo('/generate')).not.toHaveLength(0)
    } finally {
      server.close()
    }
    const wrong = coa(['solve', 'Is it so?', ...tiny, '--tokenizer', 'tiny'], { cwd })
    expect(wrong).toMatchObject({ code: 2 })
    expect(wrong.stderr).toContain('the model is not a URL')
  })

  it('counts votes, and samples the first answer as if it were the only one', () => {
    const alone = coaJson<Solved>(['solve', 'Is it so?', ...tiny], { cwd })
    const solved = coaJson<Solved>(['solve', 'Is it so?', ...tiny, '--votes', '7'], { cwd })
    expect(solved.rollouts.map(({ id }) => id)).toEqual(
      Array.from({ length: 7 }, (_, number) => `question#${number}`),
    )
    expect(streamText(solved.rollouts[0]!)).toBe(streamText(alone.rollouts[0]!))
    const agree = solved.rollouts.filter(({ answer }) => answer === solved.answer).length
    expect(agree).toBeGreaterThan(3)
    expect(solved.pick).toMatchObject({ by: 'majority', reason: `${agree} of 7 agree` })
    expect(solved.rollouts[solved.pick!.chosen!]!.answer).toBe(solved.answer)
    const { stdout, stderr } = coa(['solve', 'Is it so?', ...tiny, '--votes', '7'], { cwd })
    expect(stdout).toBe(`${solved.answer}\n`)
    expect(stderr.match(/^#\d {2}\{"yes":(true|false)\} {2}\d+ tokens, 0 calls$/gm)).toHaveLength(7)
    expect(stderr).toContain(
      `✓ #${solved.pick!.chosen! + 1}  ${solved.answer}  majority: ${agree} of 7 agree`,
    )
  })

  it('exits with 3 if the model gives no answer', () => {
    const args = ['solve', 'What is 2 + 3?', '-m', 'tiny', '-g', 'math', '--constrained', '--seed', '1']
    const short = ['--set', 'rollout.max_tokens=20']
    const { code, stdout, stderr } = coa([...args, ...short], { cwd })
    expect(code).toBe(3)
    expect(stdout).toBe('')
    expect(stderr).toContain('no answer: reached the token limit (rollout.max_tokens)')
    const solved = coaJson<Solved>([...args, ...short, '--best-of', '2'], { cwd })
    expect(solved).toMatchObject({ answer: null, pick: { chosen: null } })
    expect(streamText(solved.rollouts[1]!).startsWith('<plan>')).toBe(true)
  })

  it('offers the model only the requested tools', () => {
    const args = ['solve', 'q', '-m', 'tiny', '--seed', '1', '--set', 'rollout.max_tokens=5', '--world', '1']
    const promptOf = (...more: string[]): string =>
      String.fromCharCode(...coaJson<Solved>([...args, ...more], { cwd }).rollouts[0]!.promptTokens!)
    expect(promptOf()).toMatch(/<web_search>[\s\S]*<crawl_page>/)
    const only = promptOf('--tools', 'web_search')
    expect(only).toContain('<web_search>')
    expect(only).not.toContain('crawl_page')
  })
})

it.each<[string[], number, string]>([
  [['solve', ''], 2, 'the question is empty'],
  [['solve', 'q', '-m', 'nowhere'], 2, 'there is no model "nowhere"'],
  [['solve', 'q', '-m', 'tiny'], 5, 'web_search is not available: no search provider'],
  [['solve', 'q', '-m', 'tiny', '-g', 'pictures.toml'], 5, 'coa has no such tool'],
  [['solve', 'q', '-m', 'tiny', '--tools', 'web_serch'], 2, 'Did you mean "web_search"?'],
  [['solve', 'q', '-m', 'tiny', '-g', 'multihop', '--tools', ''], 2, 'does not work without wiki_search'],
  [['solve', 'q', '-m', 'tiny', '-g', 'mth'], 2, 'Did you mean "math"?'],
  [['solve', 'q', '-m', 'tiny', '--pick', 'judge'], 2, 'Add --best-of'],
  [['solve', 'q', '-m', 'tiny', '--best-of', '2', '--pick', 'judge'], 2, 'there is no judge'],
  [['solve', 'q', '-m', 'tiny', '-g', 'math', '--best-of', '2', '--pick', 'verifier'], 2, 'no double_check'],
  [['solve', 'q', '-m', 'tiny', '--votes', '2', '--temperature', '0'], 2, 'would be the same'],
  [['solve', 'q', '-m', 'tiny', '--votes', '2', '--best-of', '2'], 2, 'Omit --votes'],
])('coa %j exits with %i and reports %j', (args, expected, message) => {
  const { code, stdout, stderr } = coa(args, { cwd })
  expect(stderr).toContain(message)
  expect(code).toBe(expected)
  expect(stdout).toBe('')
})
