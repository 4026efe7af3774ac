import type { Random } from '../../../base/random/index.ts'
import { isWhole, plain, withCents, withSeparators } from './fixed.ts'
import { type Amount, evaluate, type OperationName, operations, sumOf } from './operations.ts'
import { scaleOf } from './scale.ts'
import type { Setting } from './words/setting.ts'

export interface Given extends Amount {
  /** As written in the question. */
  text: string
}

export interface Step extends Amount {
  operation: OperationName
  inputs: readonly Amount[]
  expression: string
  /** One sentence of reasoning. */
  text: string
}

/** A story under construction: its givens, its steps and its sentences. */
export class Story {
  readonly random: Random
  readonly setting: Setting
  readonly level: number
  readonly givens: Given[] = []
  readonly steps: Step[] = []
  /** Sentences that may be reordered. */
  readonly opening: string[] = []
  /** Sentences in fixed order. */
  readonly body: string[] = []
  #names = new Set<string>()
  #used = new Set<string>()
  #separators: boolean

  constructor(random: Random, setting: Setting, level: number) {
    this.random = random
    this.setting = setting
    this.level = level
    this.#separators = random.chance(0.6)
  }

  get scale(): ReturnType<typeof scaleOf> {
    return scaleOf(this.level)
  }

  /** A word that this story has not used yet; undefined if none is left. */
  fresh<T extends string>(words: readonly T[]): T | undefined {
    const free = words.filter((word) => !this.#used.has(word))
    if (free.length === 0) return undefined
    const word = this.random.pick(free)
    this.#used.add(word)
    return word
  }

  /** Adds one of these sentences. */
  tell(sentences: readonly string[]): void {
    this.body.push(this.random.pick(sentences))
  }

  written(value: bigint): string {
    return this.#separators ? withSeparators(plain(value)) : plain(value)
  }

  writtenMoney(value: bigint): string {
    return this.#separators ? withSeparators(withCents(value)) : withCents(value)
  }

  given(hint: string, value: bigint, text?: string): Given {
    const python = isWhole(value) ? 'int' : 'decimal'
    const given: Given = { name: this.#name(hint), value, python, text: text ?? this.written(value) }
    this.givens.push(given)
    return given
  }

  /** A given amount of money: a Decimal even without cents, because it may be divided later. */
  givenMoney(hint: string, value: bigint): Given {
    const given: Given = {
      ...{ name: this.#name(hint), value, python: 'decimal' },
      text: this.writtenMoney(value),
    }
    this.givens.push(given)
    return given
  }

  /** Adds a step; undefined if its result would not be exact. `phrase` describes the result. */
  step(
    hint: string,
    operation: OperationName,
    inputs: readonly Amount[],
    phrase: string,
  ): Amount | undefined {
    const values = inputs.map(({ value }) => value)
    const value = evaluate(operation, values)
    if (value === undefined || value <= 0n) return undefined
    // Whether an average is whole is known only after computing it, so the program never relies on it.
    const isDecimal = operation === 'average' || !isWhole(value)
    const python = isDecimal || inputs.some((input) => input.python === 'decimal') ? 'decimal' : 'int'
    const names = inputs.map(({ name }) => name)
    // Dividing integers would give a float.
    if (python === 'decimal' && operation !== 'average' && inputs.every((input) => input.python === 'int')) {
      names[0] = `Decimal(${names[0]})`
    }
    const step: Step = {
      ...{ name: this.#name(hint), value, python, operation, inputs },
      expression: operations[operation].python(names, python === 'int' ? '//' : '/'),
      text: `${capitalized(phrase)} is ${sumOf(operation, values)} = ${plain(value)}.`,
    }
    this.steps.push(step)
    return step
  }

  #name(hint: string): string {
    const base = hint
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .replace(/^(?:the|a|an) /, '')
      .replaceAll("'s", '')
      .replace(/[^A-Za-z0-9]+/g, '_')
      .replace(/^_+|_+$/g, '')
      .toLowerCase()
    const start = /^\d/.test(base) ? `n${base}` : base
    let name = start
    for (let count = 2; this.#names.has(name); count++) name = `${start}_${count}`
    this.#names.add(name)
    return name
  }

  /** Saves the state and returns a function that restores it. */
  mark(): () => void {
    const lengths = [this.givens.length, this.steps.length, this.opening.length, this.body.length] as const
    const names = new Set(this.#names)
    const used = new Set(this.#used)
    return () => {
      this.givens.length = lengths[0]
      this.steps.length = lengths[1]
      this.opening.length = lengths[2]
      this.body.length = lengths[3]
      this.#names = names
      this.#used = used
    }
  }
}

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
