import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CodeSandbox, checkAnswer } from '../../src/reward/index.ts'
import type { Gold } from '../../src/schema/index.ts'
import type { SandboxDriver } from '../../src/world/sandbox/index.ts'
import { run, subjects } from '../sandbox/drivers.ts'
import { replacesComparison } from '../sandbox/wasm-attack.ts'
import { pythonRunner } from './python-runner.ts'

type CodeGold = Extract<Gold, { checker: 'code' }>
const asserts = (...codes: string[]): CodeGold => ({
  checker: 'code',
  tests: codes.map((code) => ({ style: 'assert', code })),
})
const calls = (...tests: [entry: string, args: unknown[], expected: unknown][]): CodeGold => ({
  checker: 'code',
  tests: tests.map(([entry, args, expected]) => ({ style: 'functional', entry, args, expected })) as never,
})
const add = asserts('assert add(2, 3) == 5', 'assert add(10, -4) == 6')
const memberLoop = asserts('for p in [2, 3, 5]:\n    assert p in primes(10)')

/** Writes its own report in place of ours. */
const forged = (report: string): string => `
import os, sys
frame = sys._getframe()
while frame and 'payload' not in frame.f_globals: frame = frame.f_back
names = frame.f_globals
names['report'].write('\\n' + names['payload']['boundary'] + ${report} + '\\n')
names['report'].flush()
names['report'] = open(os.devnull, 'w')
`
const object = (members: string): string => `class Own:\n    ${members}\ndef primes(n): return Own()`

/** Programs that must be judged wrong: neither correct nor undecided, which training would exclude without penalty. */
const attacks: [name: string, gold: CodeGold, program: string][] = [
  ['a library that replaces the comparison', add, `${replacesComparison}\ndef add(a, b): return 31337`],
  [
    'StopIteration in all(map())',
    asserts('assert all(map(lambda c: add(c[0], c[1]) == c[2], [(1, 2, 3), (4, 5, 9)]))'),
    'def add(a, b): raise StopIteration',
  ],
  [
    'StopIteration in zip(map())',
    asserts(
      'for got, want in zip(map(lambda p: add(*p), [(1, 2), (4, 5)]), [3, 9]):\n    assert got == want',
    ),
    'def add(a, b): raise StopIteration',
  ],
  [
    'StopIteration in list(map())',
    asserts('for got in list(map(lambda p: add(*p), [(1, 2)])):\n    assert got == 3'),
    'def add(a, b): raise StopIteration',
  ],
  [
    'StopIteration from a custom iterator',
    asserts('assert all(map(lambda n: next(primes(n)) == n, [2, 3]))'),
    object('def __next__(self): raise StopIteration'),
  ],
  ['a container of everything', memberLoop, object('def __contains__(self, x): return True')],
  [
    'a container of everything, once',
    asserts('assert 5 in primes(10)'),
    object('def __contains__(self, x): return True'),
  ],
  [
    'a container of everything, from a method',
    asserts('for p in [2, 3, 5]:\n    assert p in Solution().primes(10)'),
    'class Own:\n    def __contains__(self, x): return True\nclass Solution:\n    def primes(self, n): return Own()',
  ],
  [
    'an object that is always true',
    asserts('for n in [2, 3]:\n    assert primes(n)'),
    object('def __bool__(self): return True'),
  ],
  [
    'an object with any length',
    asserts('for n in [2, 3]:\n    assert len(primes(n)) == 4'),
    object('def __len__(self): return 4'),
  ],
  [
    'an object that iterates over nothing',
    asserts('assert list(reversed(primes(10))) == [3, 2]\nfor _ in []: pass'),
    object('def __len__(self): return 2\n    def __getitem__(self, i): raise IndexError'),
  ],
  [
    'an object that equals everything, in a set',
    asserts('for n in [1]:\n    assert primes(n) in {4: 1}'),
    object('def __hash__(self): return hash(4)\n    def __eq__(self, o): return True'),
  ],
  ...['int', 'str', 'float', 'list', 'tuple'].map((base): [string, CodeGold, string] => [
    `a ${base} that equals everything`,
    asserts('for n in [2, 3]:\n    assert primes(n) == [n] and primes(n) <= [n] and not primes(n) != [n]'),
    `class Own(${base}):\n    __eq__ = __le__ = lambda self, o: True\n    __ne__ = lambda self, o: False\n    __hash__ = None\ndef primes(n): return Own()`,
  ]),
  [
    'a fraction with a huge exponent',
    add,
    "from fractions import Fraction\nclass Own(Fraction):\n    def __str__(self): return '1e999999999'\ndef add(a, b): return Own(1)",
  ],
  [
    'a decimal with a huge exponent',
    add,
    "from decimal import Decimal\nclass Own(Decimal):\n    def __str__(self): return '1e999999999999'\ndef add(a, b): return Own(1)",
  ],
  ['200,000 brackets', add, forged("'[' * 200000 + ']' * 200000")],
  ['brackets in a value', calls(['add', [2, 3], 5]), forged(`'[' + '["list",[' * 5000 + ']]' * 5000 + ']'`)],
  [
    'a key that is not a number',
    calls(['f', [1], { a: 1 }]),
    forged(`'[["dict",[[["int","zz"],["none"]]]]]'`),
  ],
  ['an invalid result', memberLoop, forged(`'[["value",[],["int","zz"]]]'`)],
  ['an endless sum', asserts('assert sum(f(3)) == 3'), 'def f(n): return range(10**12)'],
  [
    'a number that cannot be shown',
    asserts('for n in [3]:\n    assert f(n) == 3'),
    'def f(n): return 10**5000',
  ],
  ['210,000 characters of comment', add, `def add(a, b): return 0\n#${'x'.repeat(210_000)}`],
  [
    'an object where the test passes a function',
    asserts('assert primes(lambda x: x) == 3'),
    object('def __eq__(self, o): return True'),
  ],
  [
    'a test that never finishes',
    asserts('x = start()\nwhile not x.done():\n    x = x.next()\nassert x.ok()'),
    'class X:\n    def done(self): return False\n    def next(self): return self\n    def ok(self): return True\ndef start(): return X()',
  ],
]

/** What honest programs return in the same situations. */
const honest: [name: string, gold: CodeGold, program: string][] = [
  ['a list with members', memberLoop, 'def primes(n): return [2, 3, 5, 7]'],
  [
    'a custom container that can be iterated',
    memberLoop,
    object('def __iter__(self): return iter([2, 3, 5, 7])'),
  ],
  [
    'a class that the test instantiates',
    asserts(
      't = Trie()\nt.add("a")\nfor w in ["a"]:\n    assert w in t\nassert "b" not in t and len(t) == 1 and t',
    ),
    'class Trie:\n    def __init__(self): self.words = set()\n    def add(self, w): self.words.add(w)\n    def __contains__(self, w): return w in self.words\n    def __len__(self): return len(self.words)',
  ],
  [
    'a finite iterator',
    asserts(
      'g = f(1)\nassert next(g) == 0\nassert next(g, None) is None\ntry:\n    next(g)\n    assert False\nexcept StopIteration:\n    pass',
    ),
    'def f(n): yield from range(n)',
  ],
  [
    'a chain of objects',
    asserts(
      'node, seen = build([1, 2, 3]), []\nwhile node:\n    seen.append(node.value)\n    node = node.next\nassert seen == [1, 2, 3]',
    ),
    'class Node:\n    def __init__(self, value, next): self.value, self.next = value, next\ndef build(values): return Node(values[0], build(values[1:])) if values else None',
  ],
  ['a function passed on', asserts('assert list(map(f, [1, 2])) == [2, 4]'), 'def f(n): return 2 * n'],
  [
    'an object with a length',
    asserts('assert len(Stack()) == 0'),
    'class Stack:\n    def __len__(self): return 0',
  ],
  [
    'a fraction',
    asserts('from fractions import Fraction\nassert f() == Fraction(-1, 3)'),
    'from fractions import Fraction\ndef f(): return Fraction(-1, 3)',
  ],
  ['a long range', asserts('assert f()[7] == 7 and len(f()) == 10**9'), 'def f(): return range(10**9)'],
]

for (const subject of (await subjects()).filter(({ language }) => language === 'python')) {
  describe(`answers that attack their checker, in ${subject.name}`, () => {
    let driver: SandboxDriver
    let sandbox: CodeSandbox
    beforeAll(async () => {
      driver = await subject.open(1)
      sandbox = { run: (request, options) => run(driver, request, options) }
    })
    afterAll(() => driver.close())
    const check = (gold: CodeGold, program: string) =>
      checkAnswer(gold, `\`\`\`py\n${program}\n\`\`\``, {
        sandbox,
        code: { limits: { cpuMs: 1_500, wallMs: 120_000, memoryMb: 512 } },
      })

    it.each(attacks)('%s: wrong', async (_, gold, program) => {
      expect(await check(gold, program)).toMatchObject({ outcome: 'wrong' })
    })

    it.each(honest)('%s: correct', async (_, gold, program) => {
      expect(await check(gold, program)).toMatchObject({ outcome: 'correct' })
    })
  })
}

describe('grading code', () => {
  it('is trusted and never contains the answer, which never sees its tests', async () => {
    const seen: { trusted: boolean; hasAnswer: boolean; hasExpected: boolean }[] = []
    const watched: CodeSandbox = {
      run(request, options) {
        const text = `${request.code}${request.stdin}`
        seen.push({
          trusted: request.trusted === true,
          hasAnswer: text.includes('is_the_answer'),
          hasExpected: text.includes('kumquat'),
        })
        return pythonRunner.run(request, options)
      },
    }
    const program = 'is_the_answer = 1\ndef name(n): return "kum" + "quat"'
    const gold = asserts('assert name(1) == "kumquat"', 'for n in [1]:\n    assert name(n) == "kumquat"')
    expect(await checkAnswer(gold, program, { sandbox: watched })).toMatchObject({ outcome: 'correct' })
    expect(seen.filter(({ trusted }) => trusted).some(({ hasAnswer }) => hasAnswer)).toBe(false)
    expect(seen.filter(({ trusted }) => !trusted).some(({ hasExpected }) => hasExpected)).toBe(false)
    expect(new Set(seen.map(({ trusted }) => trusted))).toEqual(new Set([true, false]))
  })
})

describe('a machine that is too busy', () => {
  it('leaves the answer undecided, whichever run is starved', async () => {
    const driver: CodeSandbox = {
      run: async () => ({
        stdout: '',
        stderr: '',
        exit: null,
        signal: 'SIGKILL',
        timedOut: true,
        starved: true,
        truncated: false,
        ms: 1,
      }),
    }
    for (const gold of [add, calls(['add', [1, 2], 3]), memberLoop]) {
      const checked = await checkAnswer(gold, 'def add(a, b): return a + b', { sandbox: driver })
      expect(checked).toMatchObject({ outcome: 'undecided' })
      expect(checked.evidence).toMatch(/too busy/)
    }
  })
})
