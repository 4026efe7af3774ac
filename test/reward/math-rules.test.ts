import { afterAll, describe, expect, it } from 'vitest'
import { checkAnswer, closeAlgebra } from '../../src/reward/index.ts'

afterAll(closeAlgebra)

async function outcome(gold: string, answer: string, question?: string): Promise<string> {
  const context = question === undefined ? {} : { question }
  return (await checkAnswer({ checker: 'math', answer: gold }, answer, context)).outcome
}

/** The rules, one per line: gold, answer, outcome. */
const rules: [string, string, 'correct' | 'wrong' | 'undecided'][] = [
  // Decimals for exact numbers: ten digits, eight after the point.
  ['\\frac{1}{3}', '0.3333333333', 'correct'],
  ['\\frac{2}{3}', '0.6666666667', 'correct'],
  ['\\frac{2}{3}', '0.6666666666', 'correct'],
  ['\\frac{2}{3}', '0.6666666668', 'wrong'],
  ['\\frac{1}{3}', '0.333333333', 'undecided'],
  ['\\frac{1}{3}', '0.3333', 'undecided'],
  ['\\frac{1}{3}', '0.333', 'wrong'],
  ['\\frac{1}{7}', '0.142857143001', 'wrong'],
  ['\\sqrt{2}', '1.414213562', 'correct'],
  ['\\sqrt{2}', '1.41421', 'undecided'],
  ['\\sqrt{2}', '1.41422', 'wrong'],
  ['\\pi', '3.14159265', 'undecided'],
  ['-\\sqrt{2}', '-1.414213562', 'correct'],
  ['-\\sqrt{2}', '1.414213562', 'wrong'],
  ['33.33', '\\frac{100}{3}', 'undecided'],
  ['33.33', '33.333333', 'undecided'],
  ['33.33', '33.34', 'wrong'],
  ['0.3', '\\frac13', 'wrong'],
  ['27.0', '27.04', 'wrong'],
  ['72', '71.999999', 'wrong'],
  // Percent.
  ['50\\%', '50', 'correct'],
  ['50\\%', '0.5', 'correct'],
  ['0.5\\%', '0.5', 'wrong'],
  ['1', '100%', 'correct'],
  ['1', '1%', 'wrong'],
  // Units.
  ['2\\text{ hours}', '120\\text{ minutes}', 'correct'],
  ['5\\text{ cm}', '5\\text{ m}', 'wrong'],
  ['5\\text{ cm}', '5 centimeters', 'correct'],
  ['5\\text{ cm}', '6 cm', 'wrong'],
  ['5', '5 thousand', 'wrong'],
  ['5', '5 squared', 'wrong'],
  ['5', '5 gal', 'correct'],
  ['5', '6 gal', 'wrong'],
  ['5000', '5k', 'correct'],
  ['5.5', '5 and a half', 'correct'],
  // Ambiguous notation.
  ['8', '2**3', 'wrong'],
  ['23', '2**3', 'wrong'],
  ['3x', 'x1 + x2', 'wrong'],
  ['-2', '(-8)^{1/3}', 'wrong'],
  ['-2', '\\sqrt[3]{-8}', 'wrong'],
  ['6', '5 = 6', 'wrong'],
  ['\\frac16', '0.1\\overline{6}', 'correct'],
  ['\\frac16', '0.\\overline{16}', 'wrong'],
  ['\\frac{x}{2}', '1/2x', 'correct'],
  ['3x', '1/2x', 'wrong'],
  ['2\\frac{3}{2}', '3', 'undecided'],
  ['\\log 100', '2', 'correct'],
  ['\\log 100', '2\\log 10', 'correct'],
  ['1,234', '1, 234', 'correct'],
  // Signs and branches.
  ['x', '\\sqrt{x^2}', 'undecided'],
  ['2\\ln x', '\\ln x^2', 'undecided'],
  // Equations.
  ['xy=1', 'y=\\frac{1}{x}', 'undecided'],
  ['x^2+y^2=1', 'x^2+y^2-1=0', 'correct'],
  ['x^2+y^2=1', 'x^2+y^2=2', 'wrong'],
  ['x+y<1', '2x+2y<2', 'correct'],
  ['x+y<1', 'x+y>1', 'undecided'],
  ['x=5', 'y=5', 'wrong'],
  // Collections.
  ['1, 2', '(1, 2)', 'correct'],
  ['(1, 2)', '1, 2', 'correct'],
  ['(1, 2)', '2, 1', 'wrong'],
  ['\\{5\\}', '5', 'correct'],
  ['\\{1,2\\}', '(1,2)', 'wrong'],
  ['1, 1, 2', '1, 2', 'wrong'],
  ['\\{1, 1, 2\\}', '\\{1, 2\\}', 'correct'],
  ['(1, 2)', '1 < x < 2', 'correct'],
  ['1 < x < 2', '(1, 2)', 'correct'],
  ['x=1, x=2', 'x=2 or x=1', 'correct'],
  ['1, 2', 'x=1 \\text{ or } x=2', 'correct'],
  ['5', 'AB = 5', 'correct'],
  ['5', 'f(2) = 5', 'correct'],
  ['5', 'x \\approx 5', 'correct'],
  ['5', '2x + 3 = 5', 'wrong'],
  ['5\\%', '5 apples', 'wrong'],
  ['1, 2', 'x=1, y=2', 'correct'],
  ['x=1, y=2', '2, 1', 'wrong'],
  ['(1, 2)', 'x=1, y=2', 'correct'],
  ['(1, 2)', 'y=1, x=2', 'wrong'],
  ['(1, 2]', '1, 2', 'wrong'],
  ['\\log_2 8', '3.00', 'correct'],
  ['\\log_2 8', '3.01', 'wrong'],
  ['1', '0^0', 'wrong'],
  ['(1,200)', '1200', 'wrong'],
  ['[0, \\sqrt{8}] \\cup [2\\sqrt{2}, 5]', '[0, 5]', 'correct'],
  ['[0, \\sin 15^\\circ] \\cup [\\frac{\\sqrt{6}-\\sqrt{2}}{4}, 5]', '[0, 5]', 'undecided'],
  ['[0, 1] \\cup [2, 5]', '[0, 5]', 'wrong'],
  // Ratios, bases, texts, choices.
  ['1:2', '2:4', 'correct'],
  ['1:2', '2:1', 'wrong'],
  ['101_2', '5', 'wrong'],
  ['101_2', '12_3', 'wrong'],
  ['101_2', '101_3', 'wrong'],
  ['\\text{no solution}', '\\text{none at all}', 'undecided'],
  ['\\text{Evelyn}', '5', 'wrong'],
  ['B', '12', 'wrong'],
  // Sentences compared with a number.
  ['5', 'She has five apples.', 'correct'],
  ['5', 'I cannot say.', 'wrong'],
  ['5', 'There are 5 or 6 of them.', 'wrong'],
  ['5', 'There are not 5 of them.', 'wrong'],
  ['5', 'There are 6 of them.', 'wrong'],
  // Algebra.
  ['\\sqrt{2}+\\sqrt{3}', '\\sqrt{5+2\\sqrt{6}}', 'correct'],
  ['\\sqrt{2}+\\sqrt{3}', '\\sqrt{5+2\\sqrt{6}}+10^{-20}', 'wrong'],
  ['\\frac{\\sin x}{\\cos x}', '\\tan x', 'correct'],
  ['e^{i\\pi}', '-1', 'correct'],
  ['\\cos 3x', '4\\cos^3 x - 3\\cos x', 'correct'],
]

describe('rules of the math checker', () => {
  it.each(rules)('%s and %s: %s', async (gold, answer, expected) => {
    expect(await outcome(gold, answer)).toBe(expected)
  })

  it('treats a bare number as percent if the question asks for it', async () => {
    expect(await outcome('50', '50%', 'What percent of them are red?')).toBe('correct')
    expect(await outcome('12', '1200%', 'How likely is it, in percent?')).toBe('wrong')
    expect(await outcome('1', '1%', 'What percent of them are red?')).toBe('correct')
    expect(await outcome('1', '1%', 'How many of them are red?')).toBe('wrong')
  })
})

describe('an unbalanced brace', () => {
  it.each([
    ['264', '264}', 'correct'],
    ['264', '\\boxed{264', 'correct'],
    ['264', '\\boxed{26', 'wrong'],
    ['264', '{265', 'wrong'],
    ['12.5', 'The answer is 12.5}.', 'correct'],
    ['\\{1,2\\}', '\\boxed{\\{1,2\\}', 'correct'],
    ['\\{1,2\\}', '\\{1,3\\}}', 'wrong'],
  ])('%s and %s', async (gold, answer, expected) => {
    expect(await outcome(gold, answer)).toBe(expected)
  })
})

describe('hostile answers', () => {
  const hostile: [string, string][] = [
    ['5', '10^{10^{10}}'],
    ['5', '10^10^10'],
    ['5', '99999!'],
    ['5', '((((9!)!)!)!)!'],
    ['5', `${'{'.repeat(10_000)}5${'}'.repeat(10_000)}`],
    ['5', '\\boxed{'.repeat(10_000)],
    ['5', `${'('.repeat(900)}5${')'.repeat(900)}`],
    ['5', '9'.repeat(1_000_000)],
    ['5', '9'.repeat(1_900)],
    ['5', '\\frac'.repeat(390)],
    ['5', 'x'.repeat(5_000_000)],
    ['5', `${'\\sqrt'.repeat(390)}2`],
    ['5', `${'\\sin '.repeat(390)}2`],
    ['x', '((((x+1)^{99})^{99})^{99})^{99}'],
    ['\\pi', '\\pi^{\\pi^{\\pi^{\\pi}}}'],
    ['1,2', '1,2,'.repeat(480)],
    ['x', `x${'(x+1)'.repeat(390)}`],
    ['5', 'while (true) {}'],
    ['5', 'answer is '.repeat(300)],
    ['5', `${' '.repeat(1_000_000)}6`],
    ['5', '\u0000\ud800'],
    ['5', `${'-'.repeat(1_900)}6`],
    ['5', '$'.repeat(1_999)],
    ['5', '\\text{'.repeat(300)],
    ['5', '|'.repeat(1_999)],
    ['5', '«'.repeat(1_999)],
    ['5', `${'1/'.repeat(900)}1`],
    // Sizes at which superlinear time takes minutes.
    ['5', '['.repeat(200_000)],
    ['5', '\\boxed{'.repeat(200_000)],
    ['5', `${'\\n'.repeat(1_000_000)}x`],
    ['5', '<|end|>'.repeat(200_000)],
    ['5', '#### '.repeat(200_000)],
    ['5', 'the answer is '.repeat(100_000)],
    ['5', 'one hundred and '.repeat(100_000)],
    ['5', '1 '.repeat(500_000)],
    ['5', 'a: '.repeat(500_000)],
    ['5', '**'.repeat(500_000)],
    ['5', '</think>'.repeat(100_000)],
    ['5', '1e999999999'],
  ]

  it.each(hostile)('for %s are wrong, and take bounded time: %#', async (gold, answer) => {
    const started = performance.now()
    expect(await outcome(gold, answer)).toBe('wrong')
    // Generous, because the machine is shared: the failures guarded against take minutes or forever.
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})
