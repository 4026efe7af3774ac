import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isWellFormed, loadGrammar, type Payload, parseChain } from '../../src/language/grammar/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { checkAnswer } from '../../src/reward/index.ts'
import { streamText } from '../../src/schema/index.ts'
import { run as distill } from '../../src/stages/distill/index.ts'
import { run as filter } from '../../src/stages/filter/index.ts'
import { run as teach } from '../../src/stages/teach/index.ts'
import { createRun, openRun, type Run, readSelection } from '../../src/store/index.ts'
import { serveWorld, trainingTasks, type WorldServer, worldTools } from '../../src/tasks/index.ts'
import { openSandbox, type Sandbox } from '../../src/world/sandbox/index.ts'
import { callTool, codeTool } from '../../src/world/tools/index.ts'
import { isFull } from '../how-many.ts'

/** From team runs to a training set, offline. COA_TEST_FULL=1 uses 2,001 tasks instead of 36. */
const count = isFull ? 667 : 12

const signal = new AbortController().signal
const observe = (): void => {}
let folder: string
let sandbox: Sandbox
let world: WorldServer
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coa-e2e-'))
  sandbox = await openSandbox({ driver: 'pyodide' })
  world = await serveWorld()
}, 60_000)
afterAll(async () => {
  await world.close()
  await sandbox.close()
  rmSync(folder, { recursive: true })
})

async function trainingSet(mind: string): Promise<{ run: Run; kept: number; all: number }> {
  const config = ProjectConfig.parse({ tasks: { count }, teach: { mind }, sandbox: { driver: 'pyodide' } })
  const run = createRun(folder, { id: mind, command: 'test', coa: '0.0.0' })
  for (const task of await trainingTasks({ config, observe, signal })) run.append('task', task)
  await teach(config, { run, observe, signal })
  await distill(config, { run, observe, signal })
  const { funnel } = await filter(config, { run, observe, signal })
  console.log(`${mind}: ${JSON.stringify(funnel.stages)}`)
  return { run, kept: [...readSelection(run)].length, all: run.count('sequence') }
}

describe.each(['careful', 'erring'])('the runs of a team that is %s', (mind) => {
  let made: Awaited<ReturnType<typeof trainingSet>>
  beforeAll(async () => {
    made = await trainingSet(mind)
  })
  afterAll(() => made.run.close())

  it('are partly kept, and each kept sequence is well formed and correct', async () => {
    expect(made.all).toBe(3 * count)
    expect(made.kept).toBeGreaterThan(0)
    expect(made.kept).toBeLessThan(made.all)
    for (const { sequence } of readSelection(made.run)) {
      const chain = parseChain(await loadGrammar(sequence.grammar), streamText(sequence), { strict: true })
      expect(isWellFormed(chain), sequence.id).toBe(true)
      const task = made.run.get('task', sequence.taskId!)!
      const verdict = await checkAnswer(task.gold, answerText(chain.answer!.payload), {
        sandbox,
        question: task.question,
      })
      expect(verdict.outcome, `${sequence.id}: ${verdict.evidence}`).toBe('correct')
    }
  })

  it('give the recorded observations when their calls are repeated', async () => {
    let calls = 0
    for (const { sequence } of readSelection(made.run)) {
      const { events } = made.run.get('trajectory', sequence.provenance!.trajectoryId!)!
      const tools = [...worldTools(world), codeTool(sandbox)]
      for (const event of events) {
        if (event.type !== 'tool-called') continue
        const answered = events.find((other) => other.type === 'tool-answered' && other.parent === event.id)
        const tool = tools.find(({ name }) => name === event.tool)!
        const result = await callTool(tool, event.input as unknown as Payload, {})
        expect(answered).toMatchObject({ output: result.text })
        expect(
          sequence.spans.some(
            ({ kind, text }) => kind === 'observation' && text.includes(firstLine(result.text)),
          ),
        ).toBe(true)
        calls++
      }
      if (calls > 150) return
    }
    expect(calls).toBeGreaterThan(0)
  })
})

it('a team that errs more yields fewer sequences', () => {
  const kept = (id: string): number => {
    using run = openRun(join(folder, id))
    return [...readSelection(run)].length
  }
  expect(kept('erring')).toBeLessThan(kept('careful'))
})

/** The answer as a checker reads it. */
function answerText(payload: Payload): string {
  return payload.syntax === 'text' ? payload.text : payload.syntax === 'code' ? payload.code : ''
}

function firstLine(text: string): string {
  return text.split('\n')[0]!.replaceAll('</', '').slice(0, 40)
}
