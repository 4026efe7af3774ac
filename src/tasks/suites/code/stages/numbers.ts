import { modulo } from '../draft.ts'
import type { StageMaker } from './stage.ts'

type Maker = StageMaker<number>

const remainder: Maker = (random) => {
  const divisor = random.int(3, 97)
  return {
    name: `modulo-${divisor}`,
    text: `Replace the number by its remainder when divided by ${divisor} (never negative).`,
    python: `values %= ${divisor}`,
    run: (value) => modulo(value, divisor),
    mistake: {
      text: 'divides by one more',
      python: `values %= ${divisor + 1}`,
      run: (value) => modulo(value, divisor + 1),
    },
  }
}

const linear: Maker = (random) => {
  const [factor, summand] = [random.int(2, 9), random.int(1, 40)]
  return {
    name: `linear-${factor}-${summand}`,
    text: `Multiply the number by ${factor} and add ${summand}.`,
    python: `values = values * ${factor} + ${summand}`,
    run: (value) => value * factor + summand,
    mistake: {
      text: 'adds before it multiplies',
      python: `values = (values + ${summand}) * ${factor}`,
      run: (value) => (value + summand) * factor,
    },
  }
}

const digitSum: Maker = () => ({
  name: 'digit-sum',
  text: 'Replace the number by the sum of its decimal digits (a minus sign is ignored).',
  python: 'values = sum(int(digit) for digit in str(abs(values)))',
  run: (value) => [...String(Math.abs(value))].reduce((sum, digit) => sum + Number(digit), 0),
  mistake: {
    text: 'counts the digits instead of adding them',
    python: 'values = len(str(abs(values)))',
    run: (value) => String(Math.abs(value)).length,
  },
})

const binary: StageMaker<number, string> = () => ({
  name: 'binary',
  text: "Write the number in binary, without leading zeros ('0' for zero, a minus sign in front of a negative number).",
  python: "values = format(values, 'b')",
  run: (value) => value.toString(2),
  mistake: {
    text: 'writes it in base 8',
    python: "values = format(values, 'o')",
    run: (value) => value.toString(8),
  },
})

export const numberStages: readonly Maker[] = [remainder, linear, linear, digitSum]
export const numberResults = { binary } as const
