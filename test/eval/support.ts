import { join } from 'node:path'
import { Random } from '../../src/base/random/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import type { EvalAttempt, Task } from '../../src/schema/index.ts'
import type { Attempt, Solver } from '../../src/stages/eval/index.ts'
import { createRun, type Run } from '../../src/store/index.ts'

export function configOf(settings: Record<string, unknown> = {}): ProjectConfig {
  return ProjectConfig.parse({ eval: { resamples: 200, ...settings } })
}

export function tasksOf(count: number): Task[] {
  return Array.from({ length: count }, (_, at) => ({
    v: 1,
    id: `t${at}`,
    suite: at % 3 === 0 ? 'search' : 'math',
    domain: 'math',
    question: `What is ${at} + 1?`,
    gold: { checker: 'math', answer: String(at + 1) },
    level: 1 + (at % 2),
    meta: at % 3 === 0 ? { hops: 2 + (at % 4) } : {},
  }))
}

/** Random solver behavior by name and seed: correct, wrong, unanswered, undecided, failing once or for good. */
export function drawnSolver(name: string, skill: number, changes: Partial<Solver> = {}): Solver {
  const failures = new Set<string>()
  return {
    name,
    kind: 'model',
    how: `how-${name}`,
    tokenizer: 'bytes',
    async solve(task, attempt, seed) {
      const random = new Random(name, seed)
      const [chance, shape] = [random.unit(), random.unit()]
      const key = `${task.id}#${attempt}`
      const failsFirst = shape < 0.1 && !failures.has(key)
      failures.add(key)
      const isRight = chance < skill
      const answer = shape > 0.9 && !isRight ? undefined : isRight ? 'right' : `wrong ${random.int(1, 3)}`
      const outcome = shape > 0.8 && shape < 0.85 ? 'undecided' : isRight ? 'correct' : 'wrong'
      const [prompt, completion, tool] = [random.int(50, 80), random.int(10, 90), random.int(0, 50)]
      const once = prompt + completion + tool
      return {
        ...(answer === undefined ? {} : { answer }),
        verdict: { outcome, checker: 'math', evidence: 'drawn', score: isRight ? 1 : 0 },
        tokens: { prompt, completion, tool, once, billed: 2 * once },
        calls: random.int(0, 4),
        requests: random.int(1, 5),
        ms: random.int(1, 500),
        wellFormed: random.chance(0.8),
        ...(shape < 0.03 || failsFirst ? { failure: { boundary: 'tool', message: 'out of reach' } } : {}),
      } satisfies Attempt
    },
    ...changes,
  }
}

export function runIn(folder: string, id = 'run'): Run {
  return createRun(join(folder, 'runs'), { id, command: 'test', coa: '0.0.0' })
}

let made = 0

export function attemptOf(
  fields: Partial<EvalAttempt> & { outcome?: EvalAttempt['verdict']['outcome'] },
): EvalAttempt {
  const { outcome = 'correct', ...rest } = fields
  return {
    v: 1,
    id: `a${made++}`,
    solver: 's',
    kind: 'model',
    how: '',
    tokenizer: 'bytes',
    taskId: 't0',
    position: 0,
    suite: 'math',
    attempt: 0,
    seed: 1,
    tries: 1,
    verdict: { outcome, checker: 'math', evidence: '' },
    tokens: { prompt: 10, completion: 5, tool: 5, once: 20, billed: 60 },
    calls: 1,
    requests: 2,
    ms: 100,
    ...rest,
  }
}
