import { describe, expect, it } from 'vitest'
import { type CheckContext, type CodeSandbox, checkAnswer } from '../../src/reward/index.ts'
import type { Gold } from '../../src/schema/index.ts'
import { pythonRunner } from './python-runner.ts'

type Tests = Extract<Gold, { checker: 'code' }>['tests']

const check = (tests: Tests, answer: string, context: CheckContext = {}, setup?: string) =>
  checkAnswer({ checker: 'code', tests, ...(setup === undefined ? {} : { setup }) }, answer, {
    sandbox: pythonRunner,
    ...context,
  })
const outcome = async (...args: Parameters<typeof check>) => (await check(...args)).outcome

const double: Tests = [
  { style: 'assert', code: 'assert double(2) == 4' },
  { style: 'assert', code: 'assert double(5) == 10' },
]
const correct = 'def double(n):\n    return 2 * n\n'

describe('assert-style tests', () => {
  it('pass for a correct program, raw or fenced', async () => {
    expect(await check(double, correct)).toMatchObject({
      outcome: 'correct',
      score: 1,
      evidence: '2 of 2 tests passed',
    })
    expect(await outcome(double, `Here it is:\n\`\`\`python\n${correct}\`\`\`\nDone.`)).toBe('correct')
    expect(await outcome(double, `\`\`\`python\n${correct}`)).toBe('correct')
    expect(await outcome(double, `\`\`\`py\n${correct}\`\`\`\nIt prints:\n\`\`\`\n4\n\`\`\``)).toBe('correct')
  })

  it('fail for a wrong program, with a reason', async () => {
    const wrong = await check(double, 'def double(n):\n    return n * n\n')
    expect(wrong).toMatchObject({ outcome: 'wrong', evidence: '1 of 2 tests passed; test 2: got 25' })
    expect(await outcome(double, 'def double(n) return 2 * n')).toBe('wrong')
    expect(await outcome(double, 'def triple(n):\n    return 3 * n')).toBe('wrong')
    expect(await outcome(double, 'I do not know.')).toBe('wrong')
    expect(await outcome(double, 'def double(n):\n    raise ValueError("no")')).toBe('wrong')
  })

  it.each([
    ['assert sorted(f([3, 1])) == [1, 3]', 'def f(x): return set(x)', 'correct'],
    ['assert list(f(3)) == [0, 1, 2]', 'def f(n):\n    yield from range(n)', 'correct'],
    ['assert f(3) == [0, 1, 2]', 'def f(n):\n    yield from range(n)', 'wrong'],
    [
      'import math\nassert math.isclose(f(2), 1.41421356, rel_tol=1e-6)',
      'def f(x): return x ** 0.5',
      'correct',
    ],
    ['assert abs(f(2) - 1.5) < 0.01', 'def f(x): return 1.499', 'correct'],
    ['assert abs(f(2) - 1.5) < 0.01', 'def f(x): return 1.4', 'wrong'],
    ['assert not f(2)', 'def f(x): return []', 'correct'],
    ['assert f(2)', 'def f(x): return 0', 'wrong'],
    ['assert f(1) == 1 and f(2) == 2', 'def f(x): return x', 'correct'],
    ['assert f(1) == 1 and f(2) == 2', 'def f(x): return 1', 'wrong'],
    ['assert f(1) is None', 'def f(x): pass', 'correct'],
    ['assert f({1: (2, 3)}) == {(2, 3): 1}', 'def f(d): return {v: k for k, v in d.items()}', 'correct'],
    ['assert f([1, 2]) == (1, 2)', 'def f(x): return x', 'wrong'],
    ['assert f(200) == 2 ** 200', 'def f(n): return 2 ** n', 'correct'],
    ['assert f("é\\ud83d") == "é\\ud83d"', 'def f(s): return s', 'correct'],
    [
      'assert f(P(1)) == 1',
      'class P:\n    def __init__(self, v): self.v = v\ndef f(p): return p.v',
      'correct',
    ],
    ['assert f().v == 1', 'class P:\n    v = 1\ndef f(): return P()', 'correct'],
    ['assert f(1) == 1.0', 'from fractions import Fraction\ndef f(x): return Fraction(x)', 'correct'],
  ])('%s with %s: %s', async (code, program, expected) => {
    expect(await outcome([{ style: 'assert', code }], program)).toBe(expected)
  })

  it('can use a setup, before or after the program', async () => {
    const tests: Tests = [{ style: 'assert', code: 'assert total(box) == 3' }]
    expect(await outcome(tests, 'def total(b): return sum(b)', {}, 'box = [1, 2]')).toBe('correct')
    const program = 'class Box(list): pass\ndef total(b): return sum(b)'
    expect(await outcome(tests, program, {}, 'box = Box([1, 2])')).toBe('correct')
    expect(await outcome(tests, 'def total(b): return 4', {}, 'box = [1, 2]')).toBe('wrong')
  })

  it('give partial credit on request', async () => {
    const tests: Tests = [0, 1, 2, 3].map((n) => ({ style: 'assert', code: `assert f(${n}) == ${n * n}` }))
    const checked = await check(tests, 'def f(n): return n', { code: { partial: true } })
    expect(checked).toMatchObject({ outcome: 'wrong', score: 0.5 })
  })

  it('that never use the program stay undecided', async () => {
    expect(await outcome([{ style: 'assert', code: 'assert True' }], correct)).toBe('undecided')
  })
})

describe('programs that try to pass without being correct', () => {
  const attacks: [string, string][] = [
    ['leave before the tests', 'import os\nos._exit(0)'],
    ['exit politely', 'import sys\nsys.exit(0)'],
    ['exit in the call', 'import sys\ndef double(n): sys.exit(0)'],
    [
      'are equal to everything',
      'class Any:\n    def __eq__(self, other): return True\ndef double(n): return Any()',
    ],
    [
      'are an integer that is equal to everything',
      'class Any(int):\n    def __eq__(self, o): return True\n    def __hash__(self): return 1\ndef double(n): return Any(7)',
    ],
    [
      'are a list that is equal to everything',
      'class Any(list):\n    def __eq__(self, o): return True\ndef double(n): return Any()',
    ],
    [
      'patch the comparison',
      'import builtins, operator\nbuiltins.eval = lambda *a: True\ndef double(n): return 0',
    ],
    [
      'patch the compiler',
      'import builtins\nbuiltins.compile = lambda *a, **k: "True"\ndef double(n): return 0',
    ],
    ['patch the encoder', 'import json\njson.dumps = lambda *a, **k: "[true]"\ndef double(n): return 0'],
    [
      'print every outcome they can think of',
      'import os, sys\nfor n in range(3, 20):\n    try: os.write(n, b"[\\"\\"]\\n")\n    except OSError: pass\nprint("OK passed [] 0")\ndef double(n): return 0',
    ],
    [
      'look for the expected value in the frames',
      'import sys, re\ndef double(n):\n    frame = sys._getframe()\n    while frame:\n        found = re.findall(r"== *(\\d+)", repr(frame.f_locals) + repr(frame.f_globals))\n        if found: return int(found[0])\n        frame = frame.f_back\n    return 0',
    ],
    [
      'look for the expected value in memory',
      'import gc, re\ndef double(n):\n    for thing in gc.get_objects():\n        if isinstance(thing, dict) and thing.get("checks"): return 4\n    return 0',
    ],
    [
      'read the source they run from',
      'import sys, re, glob\ndef double(n):\n    text = " ".join(sys.orig_argv) + open("/proc/self/cmdline").read()\n    for path in glob.glob("./*"):\n        try: text += open(path).read()\n        except Exception: pass\n    found = re.findall(r"double\\(%d\\) *== *(\\d+)" % n, text)\n    return int(found[0]) if found else 0',
    ],
    [
      'forge a report',
      'import sys, os, gc\nfor thing in gc.get_objects():\n    if isinstance(thing, dict) and "boundary" in thing:\n        os.write(3, (thing["boundary"] + "[\\"\\", \\"\\"]\\n").encode())\n        os._exit(0)\ndef double(n): return 0',
    ],
    [
      'forge a report with a value that breaks the reader',
      'import sys, os\nframe = sys._getframe()\nwhile frame and "payload" not in frame.f_globals: frame = frame.f_back\nif frame:\n    frame.f_globals["report"].write("\\n" + frame.f_globals["payload"]["boundary"] + \'[["list", [["none"]], "__import__"]]\\n\')\n    frame.f_globals["report"].flush()\nos._exit(0)',
    ],
    ['hang', 'def double(n):\n    while True: pass'],
    ['eat memory with a number', 'def double(n): return 1 << (10 ** 8)'],
    ['nest endlessly', 'def double(n):\n    x = []\n    for _ in range(10 ** 5): x = [x]\n    return x'],
    ['contain themselves', 'def double(n):\n    x = []\n    x.append(x)\n    return x'],
    ['stop with an uncommon exception', 'def double(n): raise KeyboardInterrupt'],
    [
      'end the interpreter later',
      'import atexit, os\natexit.register(lambda: os._exit(0))\ndef double(n): return 0',
    ],
  ]

  it.each(attacks)('%s: rejected', async (_, program) => {
    const checked = await check(double, program, { code: { limits: { cpuMs: 2_000, wallMs: 120_000 } } })
    expect([checked.outcome, checked.evidence]).not.toContain('correct')
    expect(checked.outcome).toBe('wrong')
  })
})

describe('programs that read and print', () => {
  const tests: Tests = [
    { style: 'stdio', stdin: '1 2\n', stdout: '3\n' },
    { style: 'stdio', stdin: '5 7\n', stdout: '12' },
  ]

  it('are compared by their output', async () => {
    expect(await outcome(tests, 'a, b = map(int, input().split())\nprint(a + b)')).toBe('correct')
    expect(await outcome(tests, 'print(sum(map(int, input().split())), " ")\nprint()')).toBe('correct')
    expect(await outcome(tests, 'print(3)')).toBe('wrong')
    expect(await outcome(tests, 'a, b = map(int, input().split())\nprint(a + b)\nraise SystemExit(1)')).toBe(
      'wrong',
    )
    expect(await outcome(tests, 'print("3\\n4")')).toBe('wrong')
  })

  it('may print floats within a tolerance', async () => {
    const third: Tests = [{ style: 'stdio', stdin: '', stdout: 'x 0.333333\n' }]
    const program = 'print("x", 1 / 3)'
    expect(await outcome(third, program)).toBe('wrong')
    expect(await outcome(third, program, { code: { floatTolerance: 1e-5 } })).toBe('correct')
    expect(await outcome(third, 'print("x", 0.34)', { code: { floatTolerance: 1e-5 } })).toBe('wrong')
    expect(await outcome(third, 'print("y", 1 / 3)', { code: { floatTolerance: 1e-5 } })).toBe('wrong')
  })

  it('fail when they print too much or take too long', async () => {
    const limits = { cpuMs: 1_000, wallMs: 120_000, outputBytes: 10_000 }
    expect(await outcome(tests, 'while True: print("x" * 1000)', { code: { limits } })).toBe('wrong')
    expect(await outcome(tests, 'while True: pass', { code: { limits } })).toBe('wrong')
  })
})

describe('functions with arguments', () => {
  const one = (entry: string, args: unknown[], expected: unknown): Tests =>
    [{ style: 'functional', entry, args, expected }] as Tests

  it.each<[unknown[], unknown, string, 'correct' | 'wrong']>([
    [[2, 3], 5, 'def f(a, b): return a + b', 'correct'],
    [[2, 3], 5, 'def f(a, b): return a - b', 'wrong'],
    [[2, 3], 5, 'class Solution:\n    def f(self, a, b): return a + b', 'correct'],
    [[[1, 2]], [2, 1], 'def f(x): return tuple(reversed(x))', 'correct'],
    [[[1, 2]], [2, 1], 'def f(x): return x', 'wrong'],
    [[1], 1, 'def f(x): return 1.0', 'correct'],
    [[1], 0.1, 'def f(x): return 0.1', 'correct'],
    [[1], 0.1, 'def f(x): return 0.2', 'wrong'],
    [[1], -0.75, 'def f(x): return -0.75', 'correct'],
    [[1], true, 'def f(x): return True', 'correct'],
    [[1], 1, 'def f(x): return True', 'wrong'],
    [[1], null, 'def f(x): pass', 'correct'],
    [[1], { a: [1], '2': 'x' }, 'def f(x): return {"a": [1], 2: "x"}', 'correct'],
    [[1], { a: [1] }, 'def f(x): return {"a": [1], "b": 2}', 'wrong'],
    [[1], { a: [1], b: 2 }, 'def f(x): return {"a": [1]}', 'wrong'],
    [[1], -12345678901, 'def f(x): return -12345678901', 'correct'],
    [[1], 'x', 'class Any(str):\n    def __eq__(self, o): return True\ndef f(x): return Any("y")', 'wrong'],
  ])('%j, %j, %s: %s', async (args, expected, program, wanted) => {
    expect(await outcome(one('f', args, expected), program)).toBe(wanted)
  })
})

describe('a sandbox that fails', () => {
  it('leaves the answer undecided', async () => {
    const broken: CodeSandbox = { run: () => Promise.reject(new Error('no such program')) }
    expect(await check(double, correct, { sandbox: broken })).toMatchObject({
      outcome: 'undecided',
      evidence: 'the sandbox failed: no such program',
    })
    expect(await checkAnswer({ checker: 'code', tests: double }, correct)).toMatchObject({
      outcome: 'undecided',
    })
  })

  it('an aborted check does not count against the answer', async () => {
    const controller = new AbortController()
    const running = check(double, 'import time\ntime.sleep(20)', { signal: controller.signal })
    setTimeout(() => controller.abort(), 300)
    expect((await running).outcome).toBe('undecided')
    expect(await outcome(double, correct, { signal: controller.signal })).toBe('undecided')
  })
})
