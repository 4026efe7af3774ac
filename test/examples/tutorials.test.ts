import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { openRun } from '../../src/store/index.ts'
import { cleanEnvironment } from '../cli/coa.ts'
import { byteModelShape, writeByteModel } from '../engine/byte-model.ts'
import { trainerPython } from '../engine/tinker/trainer-python.ts'
import { commandsIn } from '../repo/readme-commands.ts'
import { chainWriter } from '../serve/chain-writer.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'coa-tutorials-'))
afterAll(() => rmSync(folder, { recursive: true }))
const python = await trainerPython()

/** Runs the script of a tutorial with small numbers; it fails at the first command that fails. */
async function runScript(name: string, variables: Record<string, string>) {
  const { stdout } = await promisify(execFile)(join(root, 'examples', name, 'run.sh'), [join(folder, name)], {
    env: {
      ...cleanEnvironment(),
      COA: `${process.execPath} ${join(root, 'bin/coa.js')}`,
      NODE: process.execPath,
      COA_ENGINE_THREADS: '1',
      COA_TOOLS_TIMEOUT_S: '300',
      COA_ROLLOUT_MAX_TOKENS: '60',
      ...variables,
    },
    maxBuffer: 2 ** 26,
  })
  return stdout
}

/** The newest run that a script left. */
const runOf = (name: string) => {
  const runs = join(folder, name, 'runs')
  return openRun(join(runs, readdirSync(runs).toSorted().at(-1)!))
}

it('from paper to command: every step leaves what the next one needs', async () => {
  const stdout = await runScript('from-paper', {
    TASKS: '8',
    STEPS: '1',
    COMPARED: '1',
    COA_SFT_MAX_STEPS: '1',
    COA_RL_MINI_BATCHES: '1',
  })
  expect(stdout).toMatch(/<plan>.*trajectories.*sequences.*kept.*pass rate.*rollouts.*manager-careful/s)
  const name = readdirSync(join(folder, 'from-paper/runs')).find((each) => !each.startsWith('compare'))!
  using run = openRun(join(folder, 'from-paper/runs', name))
  expect(run.kinds()).toMatchObject({ trajectory: 8, sequence: 8 })
  expect(run.count('rollout')).toBeGreaterThan(0)
})

it('an MCP tool: the team calls it, and the model is trained on its calls', async () => {
  const stdout = await runScript('mcp-tool', { STEPS: '1' })
  expect(stdout).toContain('✓  <stock>')
  expect(stdout).toContain('calls kept: stock 5 of 5')
  using run = runOf('mcp-tool')
  for (const { verdict, events } of run.scan('trajectory')) {
    expect(verdict?.outcome).toBe('correct')
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool-answered', tool: 'stock', ok: true }))
  }
})

it('own tasks: two solvers are compared', async () => {
  const stdout = await runScript('own-tasks', { TASKS: '1', ATTEMPTS: '2' })
  expect(stdout).toContain('every answer was judged correctly')
  expect(stdout).toMatch(/plain@plain .*chain .*McNemar/s)
})

it('serve: what the OpenAI client asks is recorded, marked, and trained on', async () => {
  const model = writeByteModel(folder, 'served', { ...byteModelShape, contextLength: 2048 })
  // It makes one mistake.
  const upstream = await chainWriter(model, (question) => {
    const bottles = Number(/fills (\d+) bottles/.exec(question)?.[1])
    const answer = bottles === 345 ? 345 : bottles * 8
    return `<plan>Multiply.</plan><think>One plus seven.</think><answer>\\boxed{${answer}}</answer>`
  })
  try {
    const stdout = await runScript('serve', {
      MODEL: upstream.url,
      TOKENIZER: model,
      STEPS: '1',
      COA_ROLLOUT_MAX_TOKENS: '200',
      COA_FILTER_NEAR_DUPLICATES: 'false',
    })
    expect(stdout).toContain('345 bottles: \\boxed{345} (wrong: 2760)')
    expect(stdout).toContain('412 bottles: \\boxed{3296} (right)')
    expect(stdout).toMatch(/from marked rollouts *6.*6 of 6.*checkpoints\/sft.*checkpoints\/rl/s)
  } finally {
    upstream.close()
  }
  using run = runOf('serve')
  expect(run.kinds()).toMatchObject({ mark: 7, sequence: 6 })
  const rollouts = [...run.scan('rollout')]
  expect(rollouts.filter(({ meta }) => meta['served'] !== undefined)).toHaveLength(7)
  const practiced = new Set(rollouts.filter(({ id }) => !id.includes('#')).map(({ taskId }) => taskId))
  expect(practiced.size).toBeGreaterThan(0)
  for (const id of practiced)
    expect(run.get('task', id)).toMatchObject({ gold: { checker: 'math' }, meta: { from: 'served' } })
})

if (python === undefined) console.warn('SKIPPED: examples/one-gpu: there is no Python for the trainer')
it.skipIf(python === undefined)('one GPU: the trainer trains an adapter with SFT and RL', async () => {
  const stdout = await runScript('one-gpu', {
    PYTHON: python!,
    PORT: '0',
    MODEL: join(root, 'models/nano'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    LORA_RANK: '2',
    TASKS: '4',
    SFT_STEPS: '1',
    RL_STEPS: '1',
    GROUPS_PER_STEP: '1',
    EVALUATED: '1',
    COA_RL_GROUP_SIZE: '2',
    COA_RL_TASK_COUNT: '2',
    COA_RL_MINI_BATCHES: '1',
  })
  expect(stdout).toMatch(/checkpoints\/sft.*checkpoints\/rl.*sft .*rl /s)
})

const tutorials = readdirSync(join(root, 'docs/tutorials')).filter((name) => name !== 'index.md')

/** The command of a line, with its subcommand if it has one. */
const commandOf = (line: string): string =>
  /^coa [a-z]+(?: (?:pull|start|show|list|try|validate|report))?/.exec(line)![0]

it.each(tutorials)('%s shows commands that its script runs', (name) => {
  const page = readFileSync(join(root, 'docs/tutorials', name), 'utf8')
  const [, script] = /\(\.\.\/\.\.\/(examples\/[^)]+\.(?:sh|ts))\)/.exec(page)!
  const blocks = commandsIn(page).filter((line) => line.startsWith('coa '))
  const cells = [...page.matchAll(/^\|.* `(coa [^`]+)` \|$/gm)].map(([, line]) => line!)
  const shown = [...blocks, ...cells].map(commandOf)
  expect(shown.length).toBeGreaterThan(1)
  // A program records; the commands come after it.
  if (script!.endsWith('.ts')) return
  const text = readFileSync(join(root, script!), 'utf8').replaceAll('$COA', 'coa')
  expect(shown.filter((command) => !text.includes(command))).toEqual([])
})

it('the index lists every tutorial', () => {
  const index = readFileSync(join(root, 'docs/tutorials/index.md'), 'utf8')
  for (const name of tutorials) expect(index).toContain(`(${name})`)
})
