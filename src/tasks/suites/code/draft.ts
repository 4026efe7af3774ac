import type { Random } from '../../../base/random/index.ts'

export type Json = null | boolean | number | string | Json[]

/** How a value is written on standard input and output, and in a signature. */
export type ValueType = 'int' | 'ints' | 'str' | 'strs' | 'pairs' | 'rows'

export interface Parameter {
  name: string
  type: ValueType
}

/** The body of a Python function, and the same thing in TypeScript: written twice, so that each checks the other. */
export interface Version {
  /** Lines after `def`, indented by the assembler; the last ones return. */
  python: string
  run(...args: Json[]): Json
}

/** Gives the arguments of the TypeScript side the types they have. */
export const version = <Args extends Json[]>(python: string, run: (...args: Args) => Json): Version => ({
  python,
  run: run as (...args: Json[]) => Json,
})

export const mistake = (text: string, wrong: Version): Mistake => ({ ...wrong, text })

export interface Mistake extends Version {
  text: string
}

/** What a family makes: a specification with its reference, and ways to get it wrong. */
export interface Draft {
  /** What the function is called. */
  entry: string
  parameters: readonly Parameter[]
  returns: ValueType
  /** The specification: whole sentences. */
  spec: readonly string[]
  right: Version
  mistakes: readonly Mistake[]
  /** Arguments of one call; `size` grows from 0 (the smallest sensible input) on. */
  input(random: Random, size: number): Json[]
  /** Versions with a stage left out. Where one of them passes all tests, the stage is idle and the draft no good. */
  needed?: readonly Version[]
  /** Calls that must be among the tests. */
  edges: readonly Json[][]
  /** Names of the parts it is put together from. */
  stages: readonly string[]
}

export interface Family {
  name: string
  /** The levels it belongs to. */
  levels: readonly [number, number]
  /** Its drafts grow with the level by themselves; others get stages added. */
  grows?: true
  draft(random: Random, level: number): Draft
}

/** Python's remainder: it has the sign of the divisor. */
export const modulo = (left: number, right: number): number => ((left % right) + right) % right

/** Fills in `{name}` from the values, in a text of Python that is easier to read without template holes. */
export const fill = (text: string, values: Record<string, string | number>): string =>
  text.replace(/\{(\w+)\}/g, (hole, name: string) => (name in values ? String(values[name]) : hole))
