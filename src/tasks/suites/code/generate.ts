import { Random } from '../../../base/random/index.ts'
import type { Split } from '../../../schema/index.ts'
import { sampleForSplit, splitOf } from '../../splits.ts'
import type { GeneratedTask, TaskRequest } from '../suite.ts'
import type { Draft, Json, Mistake, Version } from './draft.ts'
import { extend } from './extend.ts'
import { families } from './families/index.ts'
import type { CodeProgram } from './program.ts'
import { pythonProgram } from './python-program.ts'
import { questionOf } from './question.ts'
import { comparable, stdinOf, stdoutOf } from './standard-io.ts'

const suite = 'code'
export const codeLevels = [1, 5] as const

interface Candidate {
  family: string
  draft: Draft
  style: CodeProgram['style']
  examples: { args: Json[]; result: Json }[]
  tests: { args: Json[]; result: Json }[]
  mistakes: Mistake[]
}

export function codeTask({ seed, split, index, level }: TaskRequest): GeneratedTask<CodeProgram> {
  const [lowest, highest] = codeLevels
  const chosen = level ?? lowest + (index % (highest - lowest + 1))
  const made = sampleForSplit(split, specificationOf, (attempt) =>
    sample(new Random(suite, seed, split, index, chosen, attempt), chosen, split),
  )
  return {
    ...{ v: 1, id: `${suite}-${split}-${seed}-${index}`, suite, domain: 'code', split, level: chosen },
    question: questionOf(made.draft, made.style, made.examples),
    gold: { checker: 'code', tests: made.tests.map((test) => testOf(made, test)) },
    meta: { program: programOf(made) },
  }
}

/** Decides the split: examples, tests and the style of the program do not make a task new. */
const specificationOf = ({ draft }: Pick<Candidate, 'draft'>): string => draft.spec.join(' ')

/** Lowest and highest number of added stages by level. */
const extensions = [
  [0, 0],
  [1, 1],
  [1, 2],
  [1, 3],
  [2, 3],
] as const satisfies (readonly [number, number])[]

function sample(random: Random, level: number, split: Split): Candidate | undefined {
  const fitting = families.filter(({ levels: [low, high] }) => low <= level && level <= high)
  const family = random.pick(fitting)
  const base = family.draft(random, level)
  const [fewest, most] = extensions[level - 1] ?? extensions[0]
  const draft = family.grows === true ? base : extend(random, base, random.int(fewest, most))
  // Tests are expensive, so discard drafts of other splits first.
  if (splitOf(specificationOf({ draft })) !== split) return undefined
  const style = random.chance(0.25) ? 'stdio' : 'functional'
  const tests = answered(draft, callsFor(random, draft))
  const caught = (wrong: Version): boolean => isCaught(draft, wrong, style, tests)
  if (isTrivial(tests) || draft.needed?.every(caught) === false) return undefined
  const mistakes = draft.mistakes.filter(caught)
  if (mistakes.length === 0) return undefined
  const examples = examplesFor(random, draft)
  return { family: family.name, draft, style, examples, tests, mistakes: mistakes.slice(0, 3) }
}

const answered = (draft: Draft, calls: readonly Json[][]): { args: Json[]; result: Json }[] =>
  calls.map((args) => ({ args, result: draft.right.run(...args) }))

/** Edge cases first, then calls of various sizes, without duplicates. */
function callsFor(random: Random, draft: Draft): Json[][] {
  const count = random.int(Math.max(6, draft.edges.length + 3), 12)
  const calls = new Map(draft.edges.map((args) => [JSON.stringify(args), args]))
  for (let size = 1; calls.size < count && size < 30; size++) {
    const args = draft.input(random, 1 + (size % 9))
    calls.set(JSON.stringify(args), args)
  }
  return [...calls.values()]
}

/** One or two calls, preferably with non-trivial results. */
function examplesFor(random: Random, draft: Draft): Candidate['examples'] {
  const calls = Array.from({ length: 6 }, (_, index) => draft.input(random, 2 + (index % 4)))
  const distinct = new Map(calls.map((args) => [JSON.stringify(args), args]))
  const informative = answered(draft, [...distinct.values()]).sort(
    (left, right) => Number(isEmpty(left.result)) - Number(isEmpty(right.result)),
  )
  return informative.slice(0, random.int(1, 2))
}

const isEmpty = (result: Json): boolean =>
  result === 0 ||
  result === -1 ||
  ((typeof result === 'string' || Array.isArray(result)) && result.length < 2)

/** If most tests expect the same result, a program that ignores its input could pass. */
const isTrivial = (tests: Candidate['tests']): boolean =>
  new Set(tests.map(({ result }) => JSON.stringify(result))).size < Math.min(4, tests.length - 1)

/** Whether some test detects the mistake, as the checker compares results. */
function isCaught(
  draft: Draft,
  wrong: Version,
  style: Candidate['style'],
  tests: Candidate['tests'],
): boolean {
  const seen = (result: Json): string =>
    style === 'stdio' ? comparable(stdoutOf(draft.returns, result)) : JSON.stringify(result)
  return tests.some(({ args, result }) => seen(wrong.run(...args)) !== seen(result))
}

function testOf({ draft, style }: Candidate, { args, result }: { args: Json[]; result: Json }) {
  if (style === 'functional') return { style, entry: draft.entry, args, expected: result } as const
  return { style, stdin: stdinOf(draft.parameters, args), stdout: stdoutOf(draft.returns, result) } as const
}

function programOf({ family, draft, style, examples, mistakes }: Candidate): CodeProgram {
  return {
    ...{ family, stages: [...draft.stages], style },
    solution: pythonProgram(draft, draft.right, style),
    bugs: mistakes.map((wrong) => ({ code: pythonProgram(draft, wrong, style), text: wrong.text })),
    examples: examples.map(({ args, result }) => ({ args, result })),
  }
}
