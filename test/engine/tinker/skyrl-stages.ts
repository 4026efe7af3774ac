import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newModel, normalized, openEmbedded, shapeOfSizes } from '../../../src/engine/index.ts'
import { encodePrompt, openTokenizer } from '../../../src/language/tokens/index.ts'
import { ownModel } from '../../../src/settings/index.ts'
import { createRun } from '../../../src/store/index.ts'
import { coaAsync } from '../../cli/coa.ts'
import { keep } from '../../export/support.ts'
import { sumSequence } from '../../sft/support.ts'

/** A Llama with about 100,000 parameters and the tokenizer of nano, whose template has no instructions. */
export async function tinyStudent(folder: string): Promise<string> {
  const model = join(folder, 'student')
  await newModel(model, {
    shape: shapeOfSizes({ width: 32, layers: 1, contextLength: 256 }),
    tokenizer: ownModel('nano')!,
    seed: 1,
    createdAt: '2026-01-02T03:04:05.000Z',
  })
  return model
}

/** Trains all parameters to answer with a small number: right or wrong by chance, so that there is something to reinforce. */
export async function teachFormat(model: string): Promise<void> {
  const tokenizer = await openTokenizer(model)
  const examples = sums.flatMap(({ question }) =>
    [0, 1, 2, 3, 4].map((answer) => {
      const prompt = encodePrompt(tokenizer, [{ role: 'user', content: question }])
      const tokens = [...prompt, ...tokenizer.encodeIds(`<answer>${answer}</answer>`)]
      return { tokens, weights: tokens.map((_, at) => (at < prompt.length ? 0 : 1)) }
    }),
  )
  const engine = await openEmbedded({ model, threads: 1 })
  for (let step = 0; step < 60; step++) {
    await engine.forwardBackward(normalized(examples), { kind: 'cross-entropy' })
    await engine.optimStep({ learningRate: 2e-2 })
  }
  await engine.save(
    model,
    { stage: 'sft', step: 60, createdAt: '2026-01-02T03:04:05.000Z' },
    { optimizer: false },
  )
  await engine.close()
}

const sums = Array.from({ length: 9 }, (_, number) => {
  const [left, right] = [number % 3, Math.floor(number / 3)]
  const split = number < 6 ? 'train' : 'test'
  return { id: `sum-${number}`, question: `${left}+${right}?`, answer: `${left + right}`, split }
})

/** Nothing here depends on the speed of the machine: one request at a time, and no checkpoint because time has passed. */
const settings = `
[student]
model = "student"
lora_rank = 8
[tasks]
suites = [{ from = "sums.jsonl", domain = "math", checker = "math" }]
[sandbox]
driver = "pyodide"
[rollout]
temperature = 1
max_tokens = 8
concurrency = 1
[sft]
max_steps = 3
batch_tokens = 200
learning_rate = 5e-3
weight_decay = 0
max_norm = 0
eval_share = 0
save_every = 1000
save_seconds = 1e6
[rl]
steps = 2
groups = 2
group_size = 4
learning_rate = 1e-3
max_norm = 0
overlong_buffer = 0
eval_every = 0
save_every = 1
save_seconds = 1e6
[eval]
temperature = 1
concurrency = 1
resamples = 10
`

/** A project with the sums, and sequences that answer the first six, as the filter would leave them. */
export function tinyProject(folder: string, engine: Record<string, string>): void {
  const table = Object.entries(engine).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
  writeFileSync(join(folder, 'coa.toml'), `${settings}[engine]\n${table.join('')}`)
  writeFileSync(join(folder, 'sums.jsonl'), sums.map((row) => JSON.stringify(row)).join('\n'))
  using run = createRun(join(folder, 'runs'), { id: 'run', command: 'test', coa: '0.0.0' })
  const taught = sums.filter(({ split }) => split === 'train')
  for (const [number, { id, question, answer }] of taught.entries()) {
    const span = { ...sumSequence(number).spans.at(-1)!, text: `<answer>${answer}</answer>` }
    const prompt = [{ role: 'user' as const, content: question }]
    run.append('sequence', sumSequence(number, { id, prompt, spans: [span] }))
  }
  keep(run, taught)
}

/** Supervised training, reinforcement learning and an evaluation, with the commands that a user would type. */
export async function runStages(folder: string): Promise<Record<string, unknown>[]> {
  const outputs: Record<string, unknown>[] = []
  for (const command of [
    ['sft', 'run'],
    ['rl', 'run', '--suites', 'sums.jsonl'],
    ['eval', 'sums.jsonl', '--model', join('runs', 'run', 'checkpoints', 'rl'), '--run', 'measured'],
  ]) {
    const { code, stdout, stderr } = await coaAsync([...command, '--json'], { cwd: folder })
    if (code !== 0) throw new Error(`coa ${command.join(' ')} exited ${code}: ${stderr}`)
    outputs.push(JSON.parse(stdout))
  }
  return outputs
}
