import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  builtinGrammars,
  extendGrammar,
  isWellFormed,
  parseChain,
  systemPrompt,
} from '../../src/language/grammar/index.ts'
import { runStages, stages } from '../../src/pipeline/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { streamText } from '../../src/schema/index.ts'
import { createRun, type Run, readSelection } from '../../src/store/index.ts'
import { type OpenAiServer, startOpenAiServer } from '../../src/testing/openai-server.ts'
import { languageOf } from '../../src/world/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-mcp-tool-'))
let teacher: OpenAiServer
let run: Run

/** A teacher that lets the server's tool compute every sum. It takes everything it knows from its prompt. */
function reply(messages: readonly { content: string }[]): string {
  const last = messages.at(-1)!.content
  const rules = last.slice(last.lastIndexOf('Write <think>'))
  const all = messages.map(({ content }) => content).join('\n')
  const [, a, b] = /(\d+) and (\d+)/.exec(all) ?? []
  const sum = /The sum is (\d+)/.exec(all)?.[1]
  const observed = /Your tool answered:\n(\d+)/.exec(last)?.[1]
  const says = (thought: string, block: string): string => `<think>${thought}</think>\n${block}`
  if (rules.includes('<call>')) return says('Add them.', `<call>{"a": ${a}, "b": ${b}}</call>`)
  if (rules.includes('<report>')) return says('That is it.', `<report>The sum is ${observed}.</report>`)
  if (rules.includes('<reflection>')) return says('Look back.', `<reflection>The sum is ${sum}.</reflection>`)
  if (rules.includes('<facts>')) return says('Two numbers.', `<facts>${a} and ${b}</facts>`)
  if (rules.includes('<plan>')) return says('One step.', '<plan>Add them.</plan>')
  if (rules.includes('<task') && sum === undefined)
    return says('Have them added.', `<task for="add_numbers_agent">Add ${a} and ${b}.</task>`)
  const tag = rules.includes('<suggestion>') ? 'suggestion' : 'answer'
  return says('Done.', `<${tag}>${sum}</${tag}>`)
}

beforeAll(async () => {
  teacher = await startOpenAiServer(({ body }) => reply(body['messages'] as { content: string }[]))
  run = createRun(folder, { id: 'run', command: 'test', coa: '0' })
})
afterAll(async () => {
  run.close()
  await teacher.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The stages of these names, with these tools in the settings. */
async function runNamed(names: readonly string[], mcp: object): Promise<void> {
  const config = ProjectConfig.parse({
    tasks: {
      suites: [{ from: join(folder, 'sums.jsonl'), checker: 'exact', domain: 'math' }],
      count: 8,
      test_count: 1,
    },
    language: { tokenizer: 'nano' },
    sandbox: { driver: 'pyodide' },
    tools: { cache: join(folder, 'cache'), mcp },
    teach: { mind: 'model' },
    teacher: { base_url: teacher.baseUrl, model: 'teacher' },
    filter: { min_interactions: 1, near_duplicates: false },
    sft: { max_steps: 16, batch_tokens: 900, learning_rate: 4e-3, eval_share: 0 },
    rollout: { max_tokens: 200, max_turns: 3 },
    rl: { steps: 1, groups: 1, group_size: 4, task_count: 2, dynamic_sampling: false, eval_every: 0 },
  })
  const chosen = stages.filter(({ name }) => names.includes(name))
  const { signal } = new AbortController()
  await runStages(chosen, { run, config, observe: () => {}, signal })
}

it('a tool of an MCP server is used by the team, in SFT, in RL and in evaluation', async () => {
  const rows = Array.from({ length: 12 }, (_, index) => ({
    question: `What is the sum of ${index + 1} and ${20 - index}?`,
    answer: '21',
    split: index < 11 ? 'train' : 'test',
  }))
  writeFileSync(join(folder, 'sums.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'))
  const server = join(import.meta.dirname, '../tools/mcp-server.ts')
  const mcp = { workshop: { command: [process.execPath, server] } }

  await runNamed(['tasks', 'teach'], mcp)
  for (const { events, verdict } of run.scan('trajectory')) {
    expect(verdict?.outcome).toBe('correct')
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool-called', tool: 'add_numbers' }))
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool-answered', ok: true, output: '21' }))
  }

  // What the run stores about the tool is enough to train where the server is not available.
  await runNamed(['distill', 'filter', 'sft'], {})
  const grammar = extendGrammar(builtinGrammars.get('math')!, languageOf({}, run).tools!)
  const learned = [...readSelection(run)].map(({ sequence }) => sequence)
  expect(learned).toHaveLength(8)
  for (const sequence of learned) {
    expect(sequence.prompt[0]!.content).toBe(systemPrompt(grammar))
    const chain = parseChain(grammar, streamText(sequence), { strict: true })
    expect(isWellFormed(chain)).toBe(true)
    expect(chain.calls.map(({ agent, payload }) => [agent, payload])).toEqual([
      ['add_numbers', { syntax: 'json', value: { a: expect.any(Number), b: expect.any(Number) } }],
    ])
    for (const { kind, text } of sequence.spans)
      expect(text.includes('<observation>')).toBe(kind === 'observation')
  }

  // A run folder never starts a server: to continue the run, you have to configure the server yourself.
  await expect(runNamed(['rl'], {})).rejects.toThrow('uses the tool "add_numbers"')
  await runNamed(['rl', 'eval'], mcp)
  const called = [...run.scan('rollout')].filter(({ calls }) =>
    calls.some(({ agent, outcome }) => agent === 'add_numbers' && outcome === 'ok'),
  )
  expect(called.filter(({ id }) => !id.includes('|')).length).toBeGreaterThan(0)
  expect(called.map(({ id }) => id.split('|')[0])).toEqual(expect.arrayContaining(['sft', 'rl']))
  for (const { grammar: name } of called) expect(name).toBe('math')
}, 600_000)
