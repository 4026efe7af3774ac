import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTarget, deployModel } from '../../src/deploy/index.ts'
import { loadGrammar } from '../../src/language/grammar/index.ts'
import { FakeServer, type ServerKind } from './fake-server.ts'

const nano = fileURLToPath(new URL('../../models/nano', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'coa-clients-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const kinds: ServerKind[] = ['llama-server', 'ollama', 'vllm', 'sglang']
/** The package regex, which only models without a pattern in llama.cpp need. */
const python = ['python3', process.env['COA_TEST_CLIENT_PYTHON'] ?? []]
  .flat()
  .find((name) => spawnSync(name, ['-c', 'import regex']).status === 0)
if (python === undefined)
  console.warn('SKIPPED: Python clients of Ollama and llama-server: no Python has the package regex')

const withRegex = python === undefined ? undefined : [python, 'client.py']

const pieces = [
  '<think>Count.</think>\n<code>\n```py\nprint(2 + 3)\n```\n</code>',
  '<think>Not </code>',
  ' yet.</think>\n<answer>5</answer>',
]

beforeAll(async () => {
  for (const target of kinds) await deploy(target)
})

async function deploy(target: DeployTarget): Promise<string> {
  const out = join(root, target)
  await deployModel({
    target,
    model: nano,
    out,
    name: 'mine',
    grammar: await loadGrammar('math'),
    limits: { maxTokens: 400, maxTurns: 5 },
    createdAt: '2026-01-01T00:00:00Z',
  })
  return out
}

/** Runs a client as its README says. */
function ask(
  target: string,
  words: string[],
): Promise<{ stdout: string; stderr: string; status: number | null }> {
  return new Promise((resolve) => {
    const child = spawn(words[0]!, words.slice(1), { cwd: join(root, target) })
    const out = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk) => (out.stdout += chunk))
    child.stderr.on('data', (chunk) => (out.stderr += chunk))
    child.on('close', (status) => resolve({ ...out, status }))
  })
}

describe.each(kinds)('the clients of %s', (kind) => {
  const languages: [string, string[] | undefined][] = [
    ['TypeScript', [process.execPath, 'client.ts']],
    ['Python', kind === 'vllm' || kind === 'sglang' ? ['python3', 'client.py'] : withRegex],
  ]
  it.each(languages)('in %s run the tools and print the answer', { timeout: 120_000 }, async (_, command) => {
    if (command === undefined) return
    // Ollama cannot say that it stopped inside another agent's text.
    const script = kind === 'ollama' ? [pieces[0]!, '<answer>5</answer>'] : pieces
    const server = await new FakeServer(kind, script).start()
    const { stdout, stderr, status } = await ask(kind, [...command, ' What is 2 + 3?<|end|> ', server.url])
    server.close()
    expect({ stdout, status }, stderr).toEqual({ stdout: '5\n', status: 0 })
    expect(stderr).toContain('print(2 + 3)')
    const { texts } = server
    expect(texts).toHaveLength(script.length)
    const plain = texts.map((text) => text.replaceAll('\u001f', ''))
    expect(plain[0]).toBe('<|question|>What is 2 + 3?<|chain|>')
    expect(plain[1]).toBe(`${plain[0]}${script[0]}\n<observation>5</observation>\n`)
    const separated = kind === 'llama-server' || kind === 'ollama'
    expect(texts[0]!.includes('\u001f')).toBe(separated)
    if (script.length === 3) expect(plain[2]).toBe(`${plain[1]}${script[1]}`)
  })
})

it('sends each server what keeps the text as it is', () => {
  const source = (target: string, name: string) => readFileSync(join(root, target, name), 'utf8')
  for (const name of ['server.ts', 'server.py']) {
    expect(source('ollama', name)).toMatch(/raw["']?: [tT]rue/)
    expect(source('vllm', name)).toMatch(/include_stop_str_in_output["']?: [tT]rue/)
    expect(source('sglang', name)).toMatch(/no_stop_trim["']?: [tT]rue/)
    expect(source('llama-server', name)).toMatch(/return_tokens["']?: [tT]rue/)
  }
  expect(existsSync(join(root, 'vllm', 'words.ts'))).toBe(false)
})
