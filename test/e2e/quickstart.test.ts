import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { EvalReport } from '../../src/schema/index.ts'
import { sftCurve } from '../../src/stages/sft/index.ts'
import { openRun } from '../../src/store/index.ts'
import { cleanEnvironment, coa, coaJson } from '../cli/coa.ts'
import { howMany } from '../how-many.ts'
import { flipBits } from './bit-flips.ts'

const launcher = fileURLToPath(new URL('../../bin/coa.js', import.meta.url))
const small = [
  'tasks.suites=math',
  'tasks.count=6',
  'tasks.test_count=2',
  'sft.max_steps=4',
  'rl.steps=3',
  'rl.groups=2',
  'rl.group_size=2',
  'rl.save_every=1',
  // A model trained this little solves nothing, so no group has variance.
  'rl.dynamic_sampling=false',
  'rollout.max_tokens=120',
  // The number of the team's calls varies on a busy machine; the test must not depend on which are kept.
  'filter.max_same_call=9',
  'filter.max_tokens=0',
].flatMap((pair) => ['--set', pair])

interface Result {
  run: string
  dir: string
  stages: { name: string; status: string; figures: Record<string, number> }[]
  eval: Omit<EvalReport, 'items'>
  report: string
}

const EvalFigures = EvalReport.omit({ items: true })

describe('coa quickstart', { timeout: 300_000 }, () => {
  const cwd = mkdtempSync(join(tmpdir(), 'coa-quickstart-'))
  afterAll(() => rmSync(cwd, { recursive: true }))
  let result: Result

  it('resumes the training that was killed, and finishes', async () => {
    const failed = coa(['quickstart', ...small, '--set', 'language.tokenizer=nowhere'], { cwd })
    expect(failed).toMatchObject({ code: 2, stderr: expect.stringContaining('no tokenizer at nowhere') })
    const { dir, stderr } = await killedInRl(cwd)
    // Not with the run before, which had other settings.
    expect(stderr).toMatch(
      /not resuming \S+: it stopped in teach and has different settings; starting a new run/,
    )
    const before = rowsOf(dir, 'rl').length
    expect(before).toBeGreaterThan(0)

    result = coaJson<Result>(['quickstart', ...small], { cwd })
    expect(result.dir).toBe(dir)
    expect(result.stages.map(({ name, status }) => `${name}: ${status}`)).toEqual([
      'tasks: already done',
      'teach: already done',
      'distill: already done',
      'filter: already done',
      'sft: already done',
      'rl: done',
      'eval: done',
    ])
    expect(result.stages.find(({ name }) => name === 'rl')!.figures['steps']).toBe(3)
    // The saved step is not repeated.
    expect(rowsOf(dir, 'rl').filter(({ step }) => step === 1)).toHaveLength(1)
    expect(rowsOf(dir, 'sft')).toHaveLength(4)
  })

  it('counts every held-out task of team, base, SFT and RL, with one tokenizer', () => {
    expect(EvalFigures.parse(result.eval)).toEqual(result.eval)
    const { solvers, pairs, suites } = result.eval
    expect(suites).toEqual([{ suite: 'math', tasks: 2 }])
    expect(solvers.map(({ name, kind }) => `${name} (${kind})`)).toEqual([
      'scripted team (scripted team)',
      'base, plain text (text)',
      'base (model)',
      'sft (model)',
      'rl (model)',
    ])
    for (const { tasks, counts, tokens, name } of solvers) {
      expect([tasks, counts.attempts, counts.failed], name).toEqual([2, 2, 0])
      expect(tokens.once.value, name).toBeGreaterThan(0)
    }
    expect(new Set(solvers.map(({ tokenizer }) => tokenizer)).size).toBe(1)
    expect(pairs.map(({ reference, solver }) => [reference, solver])).toEqual(
      ['base, plain text', 'base', 'sft', 'rl'].map((solver) => ['scripted team', solver]),
    )
  })

  it('keeps evaluation tasks out of training', () => {
    using run = openRun(result.dir)
    const tasks = [...run.scan('task')]
    const heldOut = new Set(tasks.filter(({ split }) => split === 'test').map(({ id }) => id))
    expect(heldOut.size).toBe(2)
    for (const { taskId } of run.scan('attempt')) expect(heldOut).toContain(taskId)
    const again = coaJson<{ figures: Record<string, number> }>(
      ['distill', result.run, '--dry-run', '--again'],
      {
        cwd,
      },
    )
    expect(again.figures['sequences']).toBe(6)
  })

  it('writes one page that needs no network', () => {
    expect(result.report).toBe(join(result.dir, 'report.html'))
    const page = readFileSync(result.report, 'utf8')
    expect(page).not.toMatch(/<script|<link|<img|<iframe|\ssrc=|url\(|@import|href="(?:[a-z]+:|\/\/)/)
    for (const solver of ['scripted team', 'base, plain text', 'base', 'sft', 'rl'])
      expect(page).toContain(`>${solver}</th>`)
    expect(page).toMatch(/<p class="headline">rl (needs|solves none)/)
    expect(page).not.toContain('▸ running')
  })

  it('resumes the evaluation too, without repeating attempts, and reports the result', () => {
    const log = join(result.dir, 'events.jsonl')
    const before = readFileSync(join(result.dir, 'eval/eval.json'), 'utf8')
    {
      using run = openRun(result.dir, { write: true, command: 'test' })
      run.setStage('eval', { status: 'interrupted' })
    }
    rmSync(result.report)
    const attempts = (): number => linesWith(log, '"kind":"attempt"')
    expect(attempts()).toBe(5 * 2)

    const { code, stdout, stderr } = coa(['quickstart', ...small], { cwd })
    expect(code).toBe(0)
    expect(stderr).toContain(`resuming ${result.run}, which stopped in eval`)
    expect(attempts()).toBe(5 * 2)
    expect(readFileSync(join(result.dir, 'eval/eval.json'), 'utf8')).toBe(before)
    expect(existsSync(result.report)).toBe(true)
    for (const said of [
      /^scripted team .+ to .+%/m,
      /^. rl (needs .+ than scripted team|solves none)/m,
      /The team is a script .+ counted once, with the student's tokenizer/,
      `runs/${result.run}/report.html`,
      /^ {2}node \S+coa\.js solve '.+\?' --grammar math --temperature 0 --model runs\/.+\/checkpoints\/rl$/m,
      ` run report ${result.run}`,
      ' init my-agents',
    ])
      expect(stdout).toMatch(said)
  })

  it('leaves no file in which a flipped bit goes unnoticed', () => {
    const { noticed, healed, silent } = flipBits(result.dir, howMany(100) / 100)
    expect(silent).toEqual([])
    // Only the index repairs itself.
    expect(healed).toBeLessThanOrEqual(howMany(90))
    expect(noticed).toBeGreaterThanOrEqual(howMany(280))
    expect(coaJson<{ damaged: string[] }>(['run', 'verify', result.run], { cwd }).damaged).toEqual([])
  })
})

/** Kills the process when the first RL checkpoint exists; two more steps follow. */
async function killedInRl(cwd: string): Promise<{ dir: string; stderr: string }> {
  const child = spawn(process.execPath, [launcher, 'quickstart', ...small], {
    cwd,
    env: cleanEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr!.on('data', (piece) => {
    stderr += piece
  })
  const ended = once(child, 'close')
  const runs = join(cwd, 'runs')
  const isSaved = (): string | undefined =>
    readdirSync(runs).find((id) => existsSync(join(runs, id, 'checkpoints/rl-state.json')))
  while (isSaved() === undefined && child.exitCode === null) await setTimeout(20)
  child.kill('SIGKILL')
  await ended
  expect(child.signalCode, stderr).toBe('SIGKILL')
  const dir = join(runs, isSaved()!)
  using run = openRun(dir)
  expect(run.manifest.stages['rl']!.status).toBe('running')
  return { dir, stderr }
}

function rowsOf(dir: string, stage: 'sft' | 'rl') {
  using run = openRun(dir)
  const rows = [...run.metrics()].filter((row) => row['stage'] === stage && row['begins'] !== true)
  if (stage === 'sft') expect(sftCurve(run.metrics())).toHaveLength(rows.length)
  return rows.map((row) => ({ step: row['step'] }))
}

function linesWith(file: string, text: string): number {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes(text)).length
}
