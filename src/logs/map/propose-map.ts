import { writeToml } from '../../settings/index.ts'
import { isObject, type JsonObject, listOf } from '../json.ts'
import type { LogMap } from './log-map.ts'

/** Deeper values are details, such as the settings of a model. */
const DEEPEST = 3
/** As many show what kinds of turns there are. */
const TURNS = 50
const LONGEST_NAME = 80

/** What a path to a part ends with, and which values it may have. */
type Sign = readonly [path: RegExp, accepts: (value: unknown) => boolean]

const isName = (value: unknown): boolean => isText(value) && !/\n/.test(value) && value.length <= LONGEST_NAME
const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isRole = (value: unknown): boolean =>
  /^(?:system|developer|user|human|assistant|ai|tool)$/i.test(String(value))
const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value)
const isAnything = (): boolean => true

/** In this order: a path is one part only. */
const callSigns = {
  tool: [/(?:^|\.)(?:tool|tool_?name|function|function_?name|action)$|\.name$/i, isName],
  input: [
    /(?:^|\.)(?:tool_?input|action_?input|input|arguments|args|params|parameters|kwargs)$/i,
    isAnything,
  ],
  output: [/(?:^|\.)(?:tool_?output|tool_?result|output|observation|results?|returned)$/i, isAnything],
  call: [/(?:^|\.)(?:tool_?)?call_?id$|\.id$/i, isScalar],
} satisfies Record<string, Sign>
const turnSigns = {
  ...callSigns,
  role: [/(?:^|\.)(?:role|type)$/i, isRole],
  agent: [/(?:^|\.)(?:agent|agent_?name|speaker|author|sender|who|actor)$|^(?:name|from)$/i, isName],
  thought: [/(?:^|\.)(?:thoughts?|thinking|reasoning|rationale|why)$/i, isText],
  time: [/(?:^|\.)(?:time|timestamp|created_?at|at)$/i, isScalar],
  text: [/(?:^|\.)(?:content|text|message|says|said|body|utterance|response)$/i, isText],
} satisfies Record<string, Sign>
const runSigns = {
  id: [/(?:^|\.)(?:id|uuid|run_?id|trace_?id|task_?id)$/i, isScalar],
  question: [/(?:^|\.)(?:question|query|problem|task|goal)$/i, isText],
  gold: [/(?:^|\.)(?:gold|gold_?answer|ground_?truth|expected|reference|target)$/i, isAnything],
  answer: [/(?:^|\.)(?:final|final_?answer|prediction|answer)$/i, isScalar],
  correct: [/(?:^|\.)(?:correct|is_?correct|success|ok|reward)$/i, isScalar],
  system: [/(?:^|\.)(?:system|system_?prompt|instructions)$/i, isText],
} satisfies Record<string, Sign>
const groupSigns = {
  run: [/(?:^|\.)(?:(?:run|trace|session|conversation|thread|episode|trajectory)_?id|run)$/i, isScalar],
} satisfies Record<string, Sign>

/** A map for records that no format recognizes, as TOML to correct; undefined if nothing in them looks like turns. */
export function proposeMap(records: readonly unknown[]): string | undefined {
  const objects = records.filter(isObject)
  const paths = pathsIn(objects)
  const turns = longestList(paths)
  if (turns !== undefined) {
    const turn = turnMap(paths.get(turns)!.flatMap(listOf))
    const beside = new Map([...paths].filter(([path]) => !path.startsWith(`${turns}.`)))
    return turn === undefined ? undefined : written({ ...assigned(beside, runSigns), turns, turn })
  }
  const { run } = assigned(paths, groupSigns)
  const turn = turnMap(objects)
  return run === undefined || turn === undefined ? undefined : written({ run, turn })
}

const written = (map: LogMap): string => writeToml(map).trim()

function turnMap(turns: readonly unknown[]): LogMap['turn'] {
  const paths = pathsIn(turns.slice(0, TURNS))
  const calls = [...paths].find(([, values]) => values.some((value) => listOf(value).some(isObject)))
  const ofCalls =
    calls === undefined ? {} : assigned(pathsIn(calls[1].flatMap(listOf)), { ...callSigns, ...inCall })
  const found =
    'tool' in ofCalls
      ? { ...without(assigned(paths, turnSigns), Object.keys(callSigns)), ...ofCalls, calls: calls![0] }
      : assigned(paths, turnSigns)
  const text = 'text' in found ? {} : longestText(paths, Object.values(found))
  const turn = { ...found, ...text }
  return 'text' in turn || 'tool' in turn ? turn : undefined
}

/** In a list of calls, a name is that of a tool. */
const inCall = {
  tool: [/(?:^|\.)(?:name|tool|tool_?name|function|action)$/i, isName],
  call: [/(?:^|\.)(?:id|(?:tool_?)?call_?id)$/i, isScalar],
} satisfies Record<string, Sign>

/** The most frequent path for each part. */
function assigned<T extends string>(
  paths: ReadonlyMap<string, readonly unknown[]>,
  signs: Readonly<Record<T, Sign>>,
): Partial<Record<T, string>> {
  const taken = new Set<string>()
  const found: Partial<Record<T, string>> = {}
  for (const [part, [pattern, accepts]] of Object.entries(signs) as [T, Sign][]) {
    const fitting = [...paths].filter(
      ([path, values]) => !taken.has(path) && pattern.test(path) && values.some(accepts),
    )
    const [best] = fitting.toSorted(([, one], [, other]) => other.length - one.length)
    if (best === undefined) continue
    taken.add(best[0])
    found[part] = best[0]
  }
  return found
}

function longestText(
  paths: ReadonlyMap<string, readonly unknown[]>,
  taken: readonly string[],
): { text?: string } {
  const lengthOf = (values: readonly unknown[]): number => values.filter(isText).join('').length
  const [best] = [...paths]
    .filter(
      ([path, values]) => !taken.includes(path) && values.some((value) => isText(value) && /\s/.test(value)),
    )
    .toSorted(([, one], [, other]) => lengthOf(other) - lengthOf(one))
  return best === undefined ? {} : { text: best[0] }
}

/** The path of the list of objects with the most text in all. */
function longestList(paths: ReadonlyMap<string, readonly unknown[]>): string | undefined {
  const sizes = [...paths].flatMap(([path, values]) => {
    const lists = values.filter((value) => listOf(value).some(isObject))
    return lists.length === 0 ? [] : [{ path, size: JSON.stringify(lists).length }]
  })
  return sizes.toSorted((one, other) => other.size - one.size)[0]?.path
}

/** All values by their paths, as a map names them. */
function pathsIn(values: readonly unknown[]): Map<string, unknown[]> {
  const paths = new Map<string, unknown[]>()
  const walk = (value: JsonObject, before: string, depth: number): void => {
    for (const [key, child] of Object.entries(value)) {
      if (child === null || key.includes('.')) continue
      const path = before + key
      paths.set(path, [...(paths.get(path) ?? []), child])
      if (isObject(child) && depth < DEEPEST) walk(child, `${path}.`, depth + 1)
    }
  }
  for (const value of values) if (isObject(value)) walk(value, '', 1)
  return paths
}

const without = <T extends object>(value: T, keys: readonly string[]): Partial<T> =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key))) as Partial<T>
