import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { checkAnswer, closeAlgebra } from '../../src/reward/index.ts'
import { howMany } from '../how-many.ts'

afterAll(closeAlgebra)

const outcome = async (gold: string, answer: string): Promise<string> =>
  (await checkAnswer({ checker: 'math', answer: gold }, answer)).outcome
const runs = { numRuns: howMany(10_000) }

/** Ways to write an integer; none of them changes it. */
const spellings: ((n: number) => string)[] = [
  String,
  (n) => `${n}.0`,
  (n) => `${n}.`,
  (n) => `$${n}$`,
  (n) => `\\boxed{${n}}`,
  (n) => `Thus we get \\(\\boxed{\\text{${n}}}\\).`,
  (n) => n.toLocaleString('en-US'),
  (n) => n.toLocaleString('en-US').replaceAll(',', '{,}'),
  (n) => n.toLocaleString('en-US').replaceAll(',', '\\,'),
  (n) => `x = ${n}`,
  (n) => `The answer is ${n}.`,
  (n) => `#### ${n}`,
  (n) => `${n} apples`,
  (n) => `${n}\\text{ cm}`,
  (n) => String(n).replace('-', '−'),
  (n) => `(${n})`,
  (n) => `{${n}}`,
  (n) => `${n}e0`,
  (n) => `${n} \\times 10^{0}`,
  (n) => `\\dfrac{${n}}{1}`,
  (n) => `**${n}**`,
]
const anySpelling = fc.constantFrom(...spellings)
/** Two different units would stay undecided. */
const goldSpelling = fc.constantFrom(...spellings.filter((spell) => !/apples|cm/.test(spell(5))))
const anyInteger = fc.integer({ min: -2_000_000, max: 2_000_000 })

describe('numbers', () => {
  it('equal themselves in every notation', async () => {
    await fc.assert(
      fc.asyncProperty(anyInteger, goldSpelling, anySpelling, async (n, left, right) => {
        expect([left(n), right(n), await outcome(left(n), right(n))]).toEqual([left(n), right(n), 'correct'])
      }),
      runs,
    )
  })

  it('never equal their neighbors, their negatives or ten times themselves', async () => {
    const changes = [(n: number) => n + 1, (n: number) => n - 1, (n: number) => -n, (n: number) => 10 * n]
    await fc.assert(
      fc.asyncProperty(
        anyInteger.filter((n) => n !== 0),
        fc.constantFrom(...changes),
        anySpelling,
        anySpelling,
        async (n, change, left, right) => {
          expect([left(n), right(change(n)), await outcome(left(n), right(change(n)))]).not.toContain(
            'correct',
          )
        },
      ),
      runs,
    )
  })

  it('with decimals are compared digit by digit', async () => {
    const decimal = fc.tuple(fc.integer({ min: -9_999, max: 9_999 }), fc.integer({ min: 1, max: 5 }))
    await fc.assert(
      fc.asyncProperty(decimal, fc.integer({ min: 1, max: 9 }), async ([n, places], step) => {
        const write = (units: number) => (units / 10 ** places).toFixed(places)
        expect(await outcome(write(n), `${write(n)}000`)).toBe('correct')
        expect(await outcome(write(n), write(n + step))).toBe('wrong')
      }),
      { numRuns: howMany(3_000) },
    )
  })
})

type Tree = number | string | ['+' | '-' | '*', Tree, Tree] | ['^', Tree, number]

const { tree } = fc.letrec<{ tree: Tree; leaf: Tree }>((tie) => ({
  leaf: fc.oneof(fc.integer({ min: -9, max: 9 }), fc.constantFrom('x', 'y', 'n')),
  tree: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    tie('leaf'),
    fc.tuple(fc.constantFrom('+' as const, '-' as const, '*' as const), tie('tree'), tie('tree')),
    fc.tuple(fc.constant('^' as const), tie('tree'), fc.integer({ min: 1, max: 3 })),
  ),
}))

/** One notation for a tree: plain, with all brackets. */
function write(t: Tree): string {
  if (typeof t !== 'object') return typeof t === 'number' && t < 0 ? `(${t})` : String(t)
  const [operator, left, right] = t
  return operator === '^'
    ? `(${write(left)})^{${right}}`
    : `(${write(left)} ${operator} ${write(right as Tree)})`
}

/** Another: sums and products swapped, products over sums expanded, powers as products, differences reversed. */
function rewrite(t: Tree): string {
  if (typeof t !== 'object') return typeof t === 'number' && t < 0 ? `(${t})` : String(t)
  const [operator, left, right] = t
  if (operator === '^') return new Array<string>(right).fill(`(${rewrite(left)})`).join(' \\cdot ')
  if (operator === '+') return `(${rewrite(right)} + ${rewrite(left)})`
  if (operator === '-') return `(-(${rewrite(right)} - ${rewrite(left)}))`
  if (Array.isArray(left) && left[0] === '+') {
    return `(${rewrite(['*', left[1], right])} + ${rewrite(['*', left[2], right])})`
  }
  return `(${rewrite(right)} \\times ${rewrite(left)})`
}

/** The value of a tree, computed without the checker. */
function evaluate(t: Tree, at: Record<string, bigint>): bigint {
  if (typeof t === 'number') return BigInt(t)
  if (typeof t === 'string') return at[t]!
  const [operator, left, right] = t
  const a = evaluate(left, at)
  if (operator === '^') return a ** BigInt(right)
  const b = evaluate(right, at)
  return operator === '+' ? a + b : operator === '-' ? a - b : a * b
}

describe('polynomials', () => {
  it('equal themselves rewritten', async () => {
    const tally = { correct: 0, undecided: 0 }
    await fc.assert(
      fc.asyncProperty(tree, async (t) => {
        const result = await outcome(`$${write(t)}$`, rewrite(t))
        expect([write(t), rewrite(t), result]).not.toContain('wrong')
        tally[result as 'correct' | 'undecided']++
      }),
      runs,
    )
    console.log(`rewritten polynomials: ${tally.correct} correct, ${tally.undecided} undecided, 0 wrong`)
    // Expressions that are too long or too deep may stay undecided, but not many.
    expect(tally.undecided).toBeLessThan(100)
  })

  it('never equal others', async () => {
    const points = [
      { x: 1_009n, y: 10_007n, n: 100_003n },
      { x: -31n, y: 77n, n: 5n },
    ]
    await fc.assert(
      fc.asyncProperty(tree, tree, fc.boolean(), async (a, b, near) => {
        const other: Tree = near ? ['+', a, b] : b
        const differ = points.some((at) => evaluate(a, at) !== evaluate(other, at))
        if (!differ) return
        expect([write(a), write(other), await outcome(write(a), write(other))]).not.toContain('correct')
      }),
      runs,
    )
  })
})

describe('roots', () => {
  const small = fc.integer({ min: 1, max: 12 })
  const surd = fc.constantFrom(2, 3, 5, 6, 7, 10, 11, 13)

  it('never equal others', async () => {
    await fc.assert(
      fc.asyncProperty(small, small, surd, small, small, surd, async (a, b, c, p, q, r) => {
        if (a === p && b === q && c === r) return
        const gold = `\\frac{${a} + ${b}\\sqrt{${c}}}{2}`
        expect(await outcome(gold, `\\frac{${p} + ${q}\\sqrt{${r}}}{2}`)).toBe('wrong')
      }),
      runs,
    )
  })

  it('equal themselves with a rational denominator', async () => {
    await fc.assert(
      fc.asyncProperty(small, surd, async (a, c) => {
        expect(
          await outcome(`\\frac{1}{${a} + \\sqrt{${c}}}`, `\\frac{\\sqrt{${c}} - ${a}}{${c - a * a}}`),
        ).toBe('correct')
      }),
      { numRuns: 60 },
    )
  })
})

describe('any text', () => {
  const pieces = fc.constantFrom(
    ...(
      '1 2 37 0.5 1,234 x y n e i \\pi + - * / ^ _ = < \\le ( ) [ ] { } \\{ \\} | ! % , ; : \\frac \\sqrt \\sqrt[ ' +
      '\\pm \\cup \\in \\infty \\text{ \\boxed{ \\sin \\log \\log_ \\binom ^\\circ \\begin{pmatrix} \\end{pmatrix} & ' +
      '\\\\ \\left( \\right) $ \\( \\) answer is or and cm dollars \\lfloor \\rfloor « » ½ √ π − \u0000 \n'
    ).split(' '),
  )
  const soup = fc.oneof(
    fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join('')),
    fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join(' ')),
    fc.string({ unit: 'binary', maxLength: 60 }),
  )
  const golds = fc.constantFrom(
    '5',
    '\\frac{1}{2}',
    '(1,2]',
    '\\{1,2\\}',
    'x+1',
    'y=2x',
    '\\text{east}',
    'B',
    '3:30',
  )

  it('gets a verdict quickly', async () => {
    let slowest = 0
    await fc.assert(
      fc.asyncProperty(golds, soup, async (gold, answer) => {
        const started = performance.now()
        expect(['correct', 'wrong', 'undecided']).toContain(await outcome(gold, answer))
        slowest = Math.max(slowest, performance.now() - started)
      }),
      runs,
    )
    console.log(`slowest check of random text: ${slowest.toFixed(0)} ms`)
    expect(slowest).toBeLessThan(10_000)
  })

  it('equals itself', async () => {
    await fc.assert(
      fc.asyncProperty(soup, async (text) => {
        if (/answer|\\boxed|\n/.test(text) || text.trim() === '') return
        expect([text, await outcome(text, text)]).not.toContain('wrong')
      }),
      { numRuns: howMany(3_000) },
    )
  })
})
