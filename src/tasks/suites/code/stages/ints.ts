import { modulo } from '../draft.ts'
import { ints } from '../inputs.ts'
import type { StageMaker } from './stage.ts'

type Maker = StageMaker<number[]>

const keepFrom: Maker = (random) => {
  const limit = random.int(-10, 25)
  const isLow = random.chance(0.5)
  const sign = isLow ? '<=' : '>='
  const test = (value: number): boolean => (isLow ? value <= limit : value >= limit)
  return {
    name: `keep${sign}${limit}`,
    text: `Keep only the numbers that are ${isLow ? 'at most' : 'at least'} ${limit}.`,
    python: `values = [v for v in values if v ${sign} ${limit}]`,
    run: (values) => values.filter(test),
    mistake: {
      text: `drops the number ${limit} itself`,
      python: `values = [v for v in values if v ${sign[0]} ${limit}]`,
      run: (values) => values.filter((value) => test(value) && value !== limit),
    },
  }
}

const keepRemainder: Maker = (random) => {
  const divisor = random.int(2, 6)
  const rest = random.int(0, divisor - 1)
  const isDropped = random.chance(0.4)
  return {
    name: `${isDropped ? 'drop' : 'keep'}-mod-${divisor}-${rest}`,
    text: `${isDropped ? 'Drop' : 'Keep only'} the numbers that leave remainder ${rest} when divided by ${divisor} (remainders are never negative).`,
    python: `values = [v for v in values if v % ${divisor} ${isDropped ? '!=' : '=='} ${rest}]`,
    run: (values) => values.filter((value) => (modulo(value, divisor) === rest) !== isDropped),
    mistake: {
      text: 'turns the condition round',
      python: `values = [v for v in values if v % ${divisor} ${isDropped ? '==' : '!='} ${rest}]`,
      run: (values) => values.filter((value) => (modulo(value, divisor) === rest) === isDropped),
    },
  }
}

const scale: Maker = (random) => {
  const [factor, summand] = [random.pick([-3, -2, 2, 3, 4, 5]), random.int(-9, 9)]
  const after = summand === 0 ? '' : summand > 0 ? ` and add ${summand}` : ` and subtract ${-summand}`
  return {
    name: `scale-${factor}-${summand}`,
    text: `Multiply every number by ${factor}${after}.`,
    python: `values = [v * ${factor} + ${summand} for v in values]`,
    run: (values) => values.map((value) => value * factor + summand),
    mistake: {
      text: 'adds before it multiplies',
      python: `values = [(v + ${summand}) * ${factor} for v in values]`,
      run: (values) => values.map((value) => (value + summand) * factor),
    },
  }
}

const squareModulo: Maker = (random) => {
  const divisor = random.int(7, 60)
  return {
    name: `square-mod-${divisor}`,
    text: `Replace every number by the remainder of its square when divided by ${divisor}.`,
    python: `values = [v * v % ${divisor} for v in values]`,
    run: (values) => values.map((value) => Number((BigInt(value) * BigInt(value)) % BigInt(divisor))),
    mistake: {
      text: 'doubles instead of squaring',
      python: `values = [v * 2 % ${divisor} for v in values]`,
      run: (values) => values.map((value) => modulo(value * 2, divisor)),
    },
  }
}

const sorted: Maker = (random) => {
  const isDown = random.chance(0.5)
  return {
    name: isDown ? 'sort-down' : 'sort-up',
    text: `Sort the numbers from ${isDown ? 'large to small' : 'small to large'}.`,
    python: `values = sorted(values${isDown ? ', reverse=True' : ''})`,
    run: (values) => [...values].sort((left, right) => (isDown ? right - left : left - right)),
    mistake: {
      text: 'sorts the other way',
      python: `values = sorted(values${isDown ? '' : ', reverse=True'})`,
      run: (values) => [...values].sort((left, right) => (isDown ? left - right : right - left)),
    },
  }
}

const distinct: Maker = (random) => {
  const keepsFirst = random.chance(0.6)
  const first = (values: number[]): number[] =>
    values.filter((value, index) => values.indexOf(value) === index)
  const last = (values: number[]): number[] =>
    values.filter((value, index) => values.lastIndexOf(value) === index)
  const python = 'values = list(dict.fromkeys(values))'
  const pythonLast = 'values = list(dict.fromkeys(values[::-1]))[::-1]'
  return {
    name: keepsFirst ? 'distinct-first' : 'distinct-last',
    text: `Where a number occurs several times, keep only its ${keepsFirst ? 'first' : 'last'} occurrence.`,
    python: keepsFirst ? python : pythonLast,
    run: keepsFirst ? first : last,
    mistake: {
      text: 'keeps the wrong occurrence',
      python: keepsFirst ? pythonLast : python,
      run: keepsFirst ? last : first,
    },
  }
}

const sumUpTo = (values: number[], end: number): number =>
  values.slice(0, end).reduce((sum, value) => sum + value, 0)

const runningTotal: Maker = () => ({
  name: 'running-total',
  text: 'Replace every number by the sum of all numbers up to and including it.',
  python: 'values = [sum(values[:i + 1]) for i in range(len(values))]',
  run: (values) => values.map((_, index) => sumUpTo(values, index + 1)),
  mistake: {
    text: 'leaves the number itself out of the sum',
    python: 'values = [sum(values[:i]) for i in range(len(values))]',
    run: (values) => values.map((_, index) => sumUpTo(values, index)),
  },
})

const differences: Maker = () => ({
  name: 'differences',
  text: 'Replace the list by the differences of neighbours (each number minus the one before it); the result is one shorter, and empty for fewer than two numbers.',
  python: 'values = [b - a for a, b in zip(values, values[1:])]',
  run: (values) => values.slice(1).map((value, index) => value - values[index]!),
  mistake: {
    text: 'subtracts the wrong way round',
    python: 'values = [a - b for a, b in zip(values, values[1:])]',
    run: (values) => values.slice(1).map((value, index) => values[index]! - value),
  },
})

const everyNth: Maker = (random) => {
  const step = random.int(2, 3)
  const start = random.int(0, step - 1)
  const other = (start + 1) % step
  const take = (from: number) => (values: number[]) => values.filter((_, index) => index % step === from)
  return {
    name: `every-${step}-from-${start}`,
    text: `Keep only the numbers at the positions ${start}, ${start + step}, ${start + 2 * step} and so on (positions are counted from 0).`,
    python: `values = values[${start}::${step}]`,
    run: take(start),
    mistake: {
      text: 'starts at the wrong position',
      python: `values = values[${other}::${step}]`,
      run: take(other),
    },
  }
}

const rotate: Maker = (random) => {
  const by = random.int(1, 4)
  const turn = (values: number[], count: number): number[] => {
    const at = values.length === 0 ? 0 : modulo(count, values.length)
    return [...values.slice(at), ...values.slice(0, at)]
  }
  return {
    name: `rotate-${by}`,
    text: `Move the first number to the end, ${by === 1 ? 'once' : `${by} times in all`} (an empty list stays empty).`,
    python: `values = values[${by} % len(values):] + values[:${by} % len(values)] if values else []`,
    run: (values) => turn(values, by),
    mistake: {
      text: 'moves numbers from the end to the front',
      python: `values = values[-${by} % len(values):] + values[:-${by} % len(values)] if values else []`,
      run: (values) => turn(values, -by),
    },
  }
}

const chunkSums: Maker = (random) => {
  const size = random.int(2, 4)
  const sums = (values: number[], isWhole: boolean): number[] => {
    const result: number[] = []
    for (let from = 0; from < values.length; from += size) {
      const chunk = values.slice(from, from + size)
      if (!isWhole || chunk.length === size) result.push(chunk.reduce((sum, value) => sum + value, 0))
    }
    return result
  }
  return {
    name: `chunk-sums-${size}`,
    text: `Cut the list into groups of ${size} from the front (the last group can be smaller) and replace each group by its sum.`,
    python: `values = [sum(values[i:i + ${size}]) for i in range(0, len(values), ${size})]`,
    run: (values) => sums(values, false),
    mistake: {
      text: 'drops a last group that is not full',
      python: `values = [sum(values[i:i + ${size}]) for i in range(0, len(values) - ${size} + 1, ${size})]`,
      run: (values) => sums(values, true),
    },
  }
}

const clamp: Maker = (random) => {
  const low = random.int(-10, 5)
  const high = low + random.int(5, 30)
  return {
    name: `clamp-${low}-${high}`,
    text: `Replace numbers below ${low} by ${low} and numbers above ${high} by ${high}.`,
    python: `values = [min(max(v, ${low}), ${high}) for v in values]`,
    run: (values) => values.map((value) => (value < low ? low : value > high ? high : value)),
    mistake: {
      text: 'drops these numbers instead',
      python: `values = [v for v in values if ${low} <= v <= ${high}]`,
      run: (values) => values.filter((value) => value >= low && value <= high),
    },
  }
}

const swapNeighbours: Maker = () => ({
  name: 'swap-neighbours',
  text: 'Exchange the first number with the second, the third with the fourth and so on; a number left over at the end stays where it is.',
  python: `values = list(values)
for i in range(0, len(values) - 1, 2):
    values[i], values[i + 1] = values[i + 1], values[i]`,
  run: (values) => values.map((value, index) => values[index % 2 === 0 ? index + 1 : index - 1] ?? value),
  mistake: {
    text: 'drops a number left over at the end',
    python: `values = [values[i + 1 - 2 * (i % 2)] for i in range(len(values) // 2 * 2)]`,
    run: (values) =>
      values
        .slice(0, values.length - (values.length % 2))
        .map((_, index, even) => even[index % 2 === 0 ? index + 1 : index - 1]!),
  },
})

const mirror: Maker = () => ({
  name: 'reverse',
  text: 'Reverse the order of the list.',
  python: 'values = values[::-1]',
  run: (values) => [...values].reverse(),
})

const lookUp: Maker = (random) => {
  const table = ints(random, random.int(3, 5), 1, 20)
  return {
    name: `weights-${table.join('-')}`,
    text: `Add to the number at position i (counted from 0) the entry at position i modulo ${table.length} of the list [${table.join(', ')}].`,
    python: `values = [v + ${JSON.stringify(table)}[i % ${table.length}] for i, v in enumerate(values)]`,
    run: (values) => values.map((value, index) => value + table[index % table.length]!),
    mistake: {
      text: 'is off by one position in the list of summands',
      python: `values = [v + ${JSON.stringify(table)}[(i + 1) % ${table.length}] for i, v in enumerate(values)]`,
      run: (values) => values.map((value, index) => value + table[(index + 1) % table.length]!),
    },
  }
}

export const intsStages: readonly Maker[] = [
  ...[keepFrom, keepFrom, keepRemainder, keepRemainder, scale, scale, squareModulo, sorted, distinct],
  ...[runningTotal, differences, everyNth, rotate, chunkSums, clamp, swapNeighbours, mirror, lookUp],
]
