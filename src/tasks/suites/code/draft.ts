import type { Random } from '../../../base/random/index.ts'

export type Json = null | boolean | number | string | Json[]

/** The type of a value, which determines its format on standard input and output and in signatures. */
export type ValueType = 'int' | 'ints' | 'str' | 'strs' | 'pairs' | 'rows'

export interface Parameter {
  name: string
  type: ValueType
}

/** The body of a Python function and the same function in TypeScript, so that each checks the other. */
export interface Version {
  /** The lines after `def`, without indentation. */
  python: string
  run(...args: Json[]): Json
}

/**
 * Makes a version whose TypeScript side has typed arguments. `{name}` in the Python code is replaced by a value, so that it
 * is readable without template literals.
 */
export const version = <Args extends Json[]>(
  python: string,
  values: Record<string, string | number>,
  run: (...args: Args) => Json,
): Version => ({
  python: python.replace(/\{(\w+)\}/g, (hole, name: string) =>
    name in values ? String(values[name]) : hole,
  ),
  run: run as (...args: Json[]) => Json,
})

export const mistake = (text: string, wrong: Version): Mistake => ({ ...wrong, text })

export interface Mistake extends Version {
  text: string
}

/** A generated problem: a specification, its reference solution, and wrong solutions. */
export interface Draft {
  /** The name of the function. */
  entry: string
  parameters: readonly Parameter[]
  returns: ValueType
  /** The specification, in complete sentences. */
  spec: readonly string[]
  right: Version
  mistakes: readonly Mistake[]
  /** Arguments of one call; `size` 0 is the smallest sensible input. */
  input(random: Random, size: number): Json[]
  /** Versions with one stage omitted. If one of them passes all tests, the stage has no effect and the draft is discarded. */
  needed?: readonly Version[]
  /** Edge cases that must be among the tests. */
  edges: readonly Json[][]
  /** Names of its parts. */
  stages: readonly string[]
}

export interface Family {
  name: string
  /** Lowest and highest level. */
  levels: readonly [number, number]
  /** Its drafts get harder with the level by themselves; other families get stages added. */
  grows?: true
  draft(random: Random, level: number): Draft
}

/** Python's remainder, which has the sign of the divisor. */
export const modulo = (left: number, right: number): number => ((left % right) + right) % right
