import { type Family, mistake, version } from '../draft.ts'
import { ints } from '../inputs.ts'

const weightedDigits: Family = {
  name: 'weighted-digits',
  levels: [1, 3],
  draft(random) {
    const base = random.int(2, 16)
    const weights = ints(random, random.int(2, 4), 1, 9)
    const build = (from: 'low' | 'high') =>
      version<[number]>(
        `digits = []
while n > 0:
    digits.append(n % {base})
    n //= {base}
{order}weights = {weights}
return sum(digit * weights[place % len(weights)] for place, digit in enumerate(digits))`,
        { base, weights: JSON.stringify(weights), order: from === 'low' ? '' : 'digits.reverse()\n' },
        (n) => {
          const digits = [...n.toString(base)].map((digit) => Number.parseInt(digit, base))
          if (from === 'low') digits.reverse()
          return digits.reduce((sum, digit, place) => sum + digit * weights[place % weights.length]!, 0)
        },
      )
    const wrongWeights = [...weights.slice(1), weights[0]!]
    return {
      ...{ entry: 'weighted_digits', parameters: [{ name: 'n', type: 'int' }], returns: 'int' },
      spec: [
        `Write the non-negative integer n in base ${base}.`,
        `Number the digits from the right, starting at 0, and multiply digit number i by entry i modulo ${weights.length} of the list ${JSON.stringify(weights)} (entries are counted from 0).`,
        'Return the sum of these products.',
      ],
      right: build('low'),
      mistakes: [
        mistake('numbers the digits from the left', build('high')),
        mistake(
          'starts at the second weight',
          version<[number]>(
            'total, place = 0, 0\nweights = {weights}\nwhile n > 0:\n    total += n % {base} * weights[place % len(weights)]\n    place += 1\n    n //= {base}\nreturn total',
            { base, weights: JSON.stringify(wrongWeights) },
            (n) => {
              let [total, place, rest] = [0, 0, n]
              for (; rest > 0; rest = Math.floor(rest / base))
                total += (rest % base) * wrongWeights[place++ % weights.length]!
              return total
            },
          ),
        ),
      ],
      input: (draw, size) => [draw.int(1, 10 ** Math.min(size + 1, 8))],
      ...{ edges: [[0], [base], [base - 1]], stages: ['weighted-digits'] },
    }
  },
}

const divisorSum: Family = {
  name: 'divisor-sum',
  levels: [1, 3],
  draft(random) {
    const step = random.int(2, 6)
    const rest = random.int(0, step - 1)
    const isProper = random.chance(0.5)
    const isCount = random.chance(0.4)
    const isKept = random.chance(0.5)
    const build = (proper: boolean, kept: boolean) =>
      version<[number]>(
        `total = 0
for d in range(1, n{end}):
    if n % d == 0 and d % {step} {compare} {rest}:
        total += {what}
return total`,
        { end: proper ? '' : ' + 1', step, rest, compare: kept ? '==' : '!=', what: isCount ? 1 : 'd' },
        (n) => {
          const divisors = Array.from({ length: n }, (_, index) => index + 1).filter((d) => n % d === 0)
          const wanted = divisors.filter((d) => (d % step === rest) === kept && !(proper && d === n))
          return isCount ? wanted.length : wanted.reduce((sum, d) => sum + d, 0)
        },
      )
    return {
      ...{
        entry: isCount ? 'count_divisors' : 'sum_divisors',
        parameters: [{ name: 'n', type: 'int' }],
        returns: 'int',
      },
      spec: [
        `Look at the positive divisors of the positive integer n${isProper ? ', except n itself' : ', including 1 and n'}.`,
        `Return the ${isCount ? 'number' : 'sum'} of those that ${isKept ? 'leave' : 'do not leave'} remainder ${rest} when divided by ${step} (0 if there are none).`,
      ],
      right: build(isProper, isKept),
      mistakes: [
        mistake(isProper ? 'counts n itself' : 'leaves out n itself', build(!isProper, isKept)),
        mistake('turns the condition on the remainder round', build(isProper, !isKept)),
      ],
      input: (draw, size) => [draw.int(2, 20 + size * 60)],
      ...{ edges: [[1], [step], [step * (step + rest)], [360]], stages: ['divisor-sum'] },
    }
  },
}

const primeFactors: Family = {
  name: 'prime-factors',
  levels: [2, 5],
  draft(random) {
    const isDistinct = random.chance(0.4)
    const isDescending = random.chance(0.5)
    const least = random.pick([2, 2, 3, 5])
    const build = (distinct: boolean, keepsRest: boolean, from: number) =>
      version<[number]>(
        `factors = []
p = 2
while p * p <= n:
    while n % p == 0:
        factors.append(p)
        n //= p
    p += 1
{rest}{distinct}factors = [p for p in factors if p >= {from}]
return sorted(factors{order})`,
        {
          ...{ rest: keepsRest ? 'if n > 1:\n    factors.append(n)\n' : '', from },
          ...{
            distinct: distinct ? 'factors = list(set(factors))\n' : '',
            order: isDescending ? ', reverse=True' : '',
          },
        },
        (n) => {
          const factors: number[] = []
          let rest = n
          for (let p = 2; p <= rest; p++) {
            if (!keepsRest && p * p > rest) break
            for (; rest % p === 0; rest /= p) factors.push(p)
          }
          const kept = (distinct ? [...new Set(factors)] : factors).filter((p) => p >= from)
          return isDescending ? kept.reverse() : kept
        },
      )
    return {
      ...{ entry: 'prime_factors', parameters: [{ name: 'n', type: 'int' }], returns: 'ints' },
      spec: [
        `Return the prime factors of the positive integer n that are at least ${least}, in ${isDescending ? 'descending' : 'ascending'} order.`,
        isDistinct ? 'List each prime once.' : 'List a prime as often as it divides n.',
        'The number 1 has no prime factors.',
      ],
      right: build(isDistinct, true, least),
      mistakes: [
        mistake('forgets the prime that remains at the end', build(isDistinct, false, least)),
        mistake(isDistinct ? 'repeats primes' : 'lists each prime once', build(!isDistinct, true, least)),
        mistake('uses the wrong smallest prime', build(isDistinct, true, least + 1)),
      ],
      input: (draw, size) => [draw.int(2, 12) ** draw.int(1, 2) * draw.int(2, 30 + 20 * size)],
      ...{ edges: [[1], [least], [97], [least * least * 7]], stages: ['prime-factors'] },
    }
  },
}

const boundedChain: Family = {
  name: 'bounded-chain',
  levels: [2, 5],
  draft(random) {
    const divisor = random.int(2, 5)
    const [factor, summand, bound] = [random.int(2, 7), random.int(1, 9), random.int(50, 400)]
    const build = (repeats: boolean, add: number) =>
      version<[number]>(
        `seen = []
while n not in seen:
    seen.append(n)
    if n % {divisor} == 0:
        n = n // {divisor}
    else:
        n = ({factor} * n + {add}) % {bound}
{repeat}return seen`,
        { divisor, factor, add, bound, repeat: repeats ? 'seen.append(n)\n' : '' },
        (start) => {
          const seen = new Set<number>()
          let n = start
          while (!seen.has(n)) {
            seen.add(n)
            n = n % divisor === 0 ? Math.floor(n / divisor) : (factor * n + add) % bound
          }
          return repeats ? [...seen, n] : [...seen]
        },
      )
    return {
      ...{ entry: 'chain', parameters: [{ name: 'n', type: 'int' }], returns: 'ints' },
      spec: [
        `Start with the non-negative integer n. If the current number is divisible by ${divisor}, the next one is the current one divided by ${divisor}; otherwise it is (${factor} times the current one plus ${summand}) modulo ${bound}.`,
        'Stop as soon as a number would occur for the second time.',
        'Return the list of all numbers in the order in which they occur, each once, beginning with n.',
      ],
      right: build(false, summand),
      mistakes: [
        mistake('lists the repeated number again', build(true, summand)),
        mistake('adds one too much', build(false, summand + 1)),
      ],
      input: (draw, size) => [draw.int(1, 20 + 40 * size)],
      ...{ edges: [[0], [divisor], [1]], stages: ['bounded-chain'] },
    }
  },
}

const ownDigits: Family = {
  name: 'own-digits',
  levels: [1, 4],
  draft(random) {
    const alphabet = random
      .shuffle([...'abcdefghijklmnopqrstuvwxyz'])
      .slice(0, random.int(2, 12))
      .join('')
    const base = alphabet.length
    const build = (zero: string, isReversed: boolean) =>
      version<[number]>(
        `digits = '{alphabet}'
if n == 0:
    return '{zero}'
size, text = abs(n), ''
while size > 0:
    text = {join}
    size //= {base}
return '-' + text if n < 0 else text`,
        {
          alphabet,
          zero,
          base,
          join: isReversed ? `text + digits[size % ${base}]` : `digits[size % ${base}] + text`,
        },
        (n) => {
          if (n === 0) return zero
          const text = [...Math.abs(n).toString(base)].map((digit) => alphabet[Number.parseInt(digit, base)]!)
          return (n < 0 ? '-' : '') + (isReversed ? text.reverse() : text).join('')
        },
      )
    const signless = version<[number]>(
      `digits = '{alphabet}'
size, text = abs(n), ''
while True:
    text = digits[size % {base}] + text
    size //= {base}
    if size == 0:
        return text`,
      { alphabet, base },
      (n) => [...Math.abs(n).toString(base)].map((digit) => alphabet[Number.parseInt(digit, base)]!).join(''),
    )
    return {
      ...{ entry: 'write_number', parameters: [{ name: 'n', type: 'int' }], returns: 'str' },
      spec: [
        `Write the integer n in base ${base}, where the letters of '${alphabet}' stand for the digits 0 to ${base - 1} in this order, with the most significant digit first and no leading zero digits.`,
        `Zero is written '${alphabet[0]}'. A negative number is written as '-' followed by its absolute value.`,
        'Return what is written.',
      ],
      right: build(alphabet[0]!, false),
      mistakes: [
        mistake('gives nothing for zero', build('', false)),
        mistake('writes the least significant digit first', build(alphabet[0]!, true)),
        mistake('drops the minus sign', signless),
      ],
      input: (draw, size) => [draw.int(-(10 ** Math.min(size, 6)), 10 ** Math.min(size + 1, 8))],
      ...{ edges: [[0], [-1], [base], [-base * base]], stages: ['own-digits'] },
    }
  },
}

const countInRange: Family = {
  name: 'count-in-range',
  levels: [1, 3],
  draft(random) {
    const [p, q] = random.sample([2, 3, 4, 5, 6, 7, 9, 10, 11], 2) as [number, number]
    const isBoth = random.chance(0.4)
    const build = (end: 0 | 1, both: boolean) =>
      version<[number, number]>(
        'return sum(1 for n in range(low, high{end}) if (n % {p} == 0) {join} (n % {q} == 0))',
        {
          ...{ p, q, end: end === 1 ? ' + 1' : '', join: both ? 'and' : '!=' },
        },
        (low, high) => {
          let count = 0
          for (let n = low; n < high + end; n++) {
            const [byP, byQ] = [n % p === 0, n % q === 0]
            if (both ? byP && byQ : byP !== byQ) count++
          }
          return count
        },
      )
    const either = version<[number, number]>(
      'return sum(1 for n in range(low, high + 1) if n % {p} == 0 or n % {q} == 0)',
      { p, q },
      (low, high) => {
        let count = 0
        for (let n = low; n <= high; n++) if (n % p === 0 || n % q === 0) count++
        return count
      },
    )
    return {
      entry: 'count_multiples',
      parameters: [
        { name: 'low', type: 'int' },
        { name: 'high', type: 'int' },
      ],
      returns: 'int',
      spec: [
        `Return how many integers n with low <= n <= high are divisible by ${isBoth ? `both ${p} and ${q}` : `exactly one of ${p} and ${q}`}.`,
        'If low is greater than high, the result is 0. Both ends can be negative.',
      ],
      right: build(1, isBoth),
      mistakes: [
        mistake('leaves out the upper end', build(0, isBoth)),
        mistake('also counts those divisible by one or by both', either),
      ],
      input: (draw, size) => {
        const low = draw.int(-40, 40)
        return [low, low + draw.int(0, 10 + 20 * size)]
      },
      ...{
        edges: [
          [5, 4],
          [0, p * q],
          [-p * q, p * q],
          [p, p],
        ],
        stages: ['count-in-range'],
      },
    }
  },
}

export const numberFamilies = [
  weightedDigits,
  divisorSum,
  primeFactors,
  boundedChain,
  ownDigits,
  countInRange,
]
