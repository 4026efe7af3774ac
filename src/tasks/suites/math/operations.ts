import { divide, divideDown, multiply, plain, whole } from './fixed.ts'

/** A named number in the program. Python uses int or, for decimals, Decimal. */
export interface Amount {
  name: string
  value: bigint
  python: 'int' | 'decimal'
}

export type OperationName = keyof typeof operations

interface Operation {
  /** Undefined if the result is not exact. */
  value(inputs: readonly bigint[]): bigint | undefined
  /** The Python expression; `slash` is the division operator for the type of numbers. */
  python(names: readonly string[], slash: '/' | '//'): string
  /** The calculation as a person writes it. */
  sum(numbers: readonly string[]): string
}

const hundred = whole(100)

/** base × numerator ÷ denominator, for percentages, fractions and shares. */
function scaled(base: bigint, numerator: bigint, denominator: bigint): bigint | undefined {
  const product = multiply(base, numerator)
  return product === undefined ? undefined : divide(product, denominator)
}

export const operations = {
  add: {
    value: (inputs) => inputs.reduce((sum, value) => sum + value, 0n),
    python: (names) => names.join(' + '),
    sum: (numbers) => numbers.join(' + '),
  },
  subtract: {
    value: ([from = 0n, ...rest]) => rest.reduce((left, value) => left - value, from),
    python: (names) => names.join(' - '),
    sum: (numbers) => numbers.join(' - '),
  },
  multiply: {
    value: ([left = 0n, right = 0n]) => multiply(left, right),
    python: (names) => names.join(' * '),
    sum: (numbers) => numbers.join(' × '),
  },
  divide: {
    value: ([left = 0n, right = 0n]) => divide(left, right),
    python: ([left, right], slash) => `${left} ${slash} ${right}`,
    sum: (numbers) => numbers.join(' / '),
  },
  'divide-up': {
    value: ([left = 0n, right = 0n]) => (right === 0n ? undefined : divideDown(left + right - 1n, right)),
    python: ([left, right]) => `-(-${left} // ${right})`,
    sum: ([left, right]) => `${left} / ${right}, rounded up`,
  },
  'divide-down': {
    value: ([left = 0n, right = 0n]) => divideDown(left, right),
    python: ([left, right]) => `${left} // ${right}`,
    sum: ([left, right]) => `${left} / ${right}, rounded down`,
  },
  remainder: {
    value: ([left = 0n, right = 0n]) => (right === 0n ? undefined : left % right),
    python: ([left, right]) => `${left} % ${right}`,
    sum: ([left, right]) => `the remainder of ${left} / ${right}`,
  },
  percent: {
    value: ([base = 0n, percent = 0n]) => scaled(base, percent, hundred),
    python: ([base, percent], slash) => `${base} * ${percent} ${slash} 100`,
    sum: ([base, percent]) => `${base} × ${percent} / 100`,
  },
  'percent-more': {
    value: ([base = 0n, percent = 0n]) => scaled(base, hundred + percent, hundred),
    python: ([base, percent], slash) => `${base} * (100 + ${percent}) ${slash} 100`,
    sum: ([base, percent]) => `${base} × (100 + ${percent}) / 100`,
  },
  'percent-less': {
    value: ([base = 0n, percent = 0n]) => scaled(base, hundred - percent, hundred),
    python: ([base, percent], slash) => `${base} * (100 - ${percent}) ${slash} 100`,
    sum: ([base, percent]) => `${base} × (100 - ${percent}) / 100`,
  },
  /** base × numerator / denominator. */
  fraction: {
    value: ([base = 0n, numerator = 0n, denominator = 0n]) => scaled(base, numerator, denominator),
    python: ([base, numerator, denominator], slash) => `${base} * ${numerator} ${slash} ${denominator}`,
    sum: ([base, numerator, denominator]) => `${base} × ${numerator} / ${denominator}`,
  },
  /** The first part of a ratio, as a share of the base. */
  share: {
    value: ([base = 0n, part = 0n, other = 0n]) => scaled(base, part, part + other),
    python: ([base, part, other], slash) => `${base} * ${part} ${slash} (${part} + ${other})`,
    sum: ([base, part, other]) => `${base} × ${part} / (${part} + ${other})`,
  },
  average: {
    value: (inputs) =>
      divide(
        inputs.reduce((sum, value) => sum + value, 0n),
        whole(inputs.length),
      ),
    python: (names) => `Decimal(${names.join(' + ')}) / ${names.length}`,
    sum: (numbers) => `(${numbers.join(' + ')}) / ${numbers.length}`,
  },
} as const satisfies Record<string, Operation>

export const evaluate = (operation: OperationName, inputs: readonly bigint[]): bigint | undefined =>
  operations[operation].value(inputs)

export const sumOf = (operation: OperationName, inputs: readonly bigint[]): string =>
  operations[operation].sum(inputs.map(plain))
