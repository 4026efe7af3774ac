import { describe, expect, it } from 'vitest'
import { checkAnswer } from '../../src/reward/index.ts'
import type { Gold } from '../../src/schema/index.ts'
import { pythonRunner } from './python-runner.ts'

const gold = (code: string, setup?: string): Gold => ({
  checker: 'code',
  tests: [{ style: 'assert', code }],
  ...(setup === undefined ? {} : { setup }),
})
const check = (code: string, answer: string, setup?: string) =>
  checkAnswer(gold(code, setup), answer, {
    sandbox: pythonRunner,
    code: { limits: { cpuMs: 2_000, wallMs: 120_000 } },
  })

/** The form of HumanEval: a prompt with a helper and an open function, and a check of the candidate. */
const prompt = `from typing import List

def shift(text: str) -> str:
    """ Shifts every letter by one. """
    return "".join(chr(ord(letter) + 1) for letter in text)

def unshift(text: str) -> str:
    import math
    """ Undoes shift.
    >>> unshift("bcd")
    'abc'
    """
`
const humanEvalTest = `

METADATA = {'author': 'nobody'}


def check(candidate):
    from random import randint, choice
    import string
    letters = string.ascii_lowercase
    for _ in range(40):
        text = ''.join(choice(letters) for i in range(randint(1, 9)))
        encoded = shift(text)
        assert candidate(encoded) == text, 'it does not undo'
    assert candidate('') == ''


check(unshift)
`
const body = '    return "".join(chr(ord(letter) - 1) for letter in text)\n'

describe('HumanEval-style tests', () => {
  it.each([
    ['a completion', body],
    ['a completion in a fence', `\`\`\`python\n${body}\`\`\``],
    ['a completion without its first indent', body.trimStart()],
    [
      'a completion without any indent',
      'result = ""\nfor letter in text:\n    result += chr(ord(letter) - 1)\nreturn result',
    ],
    ['a whole program', prompt + body],
    ['a function by itself', `def unshift(text):\n${body}`],
  ])('pass for %s', async (_, answer) => {
    expect(await check(humanEvalTest, answer, prompt)).toMatchObject({ outcome: 'correct' })
  })

  it.each([
    ['a wrong completion', '    return text\n'],
    ['an empty function', '    pass\n'],
    ['only the prompt', prompt],
    ['another function', 'def other(text): return text'],
    [
      'a program that changes the helper too',
      `def shift(text): return text\n\ndef unshift(text): return text\n`,
    ],
    ['prose', 'I cannot do this.'],
  ])('fail for %s', async (_, answer) => {
    expect(await check(humanEvalTest, answer, prompt)).toMatchObject({ outcome: 'wrong' })
  })
})

describe('tests of any other form', () => {
  it.each<[string, string, 'correct' | 'wrong']>([
    ['for n in range(50):\n    assert f(n) == 2 * n', 'def f(n): return 2 * n', 'correct'],
    ['for n in range(50):\n    assert f(n) == 2 * n', 'def f(n): return 2 * n if n < 49 else 0', 'wrong'],
    ['assert all(f(n) == n for n in range(5))', 'def f(n): return n', 'correct'],
    ['assert all(f(n) == n for n in range(5))', 'def f(n): return 3', 'wrong'],
    ['result = f([3, 1])\nassert result == [1, 3]\nassert f(result) == result', 'f = sorted', 'correct'],
    ['x = [3, 1, 2]\nf(x)\nassert x == [1, 2, 3]', 'def f(x): x.sort()', 'correct'],
    ['x = [3, 1, 2]\nf(x)\nassert x == [1, 2, 3]', 'def f(x): return sorted(x)', 'wrong'],
    [
      'try:\n    f(-1)\n    assert False\nexcept ValueError:\n    pass',
      'def f(n):\n    raise ValueError("no")',
      'correct',
    ],
    ['try:\n    f(-1)\n    assert False\nexcept ValueError:\n    pass', 'def f(n): return n', 'wrong'],
    [
      'try:\n    f(-1)\n    assert False\nexcept ValueError:\n    pass',
      'def f(n):\n    raise KeyError("no")',
      'wrong',
    ],
    [
      's = Stack()\nfor n in range(4): s.push(n)\nassert s.pop() == 3\nassert len(s) == 3\nassert s.items == [0, 1, 2]',
      'class Stack:\n    def __init__(self): self.items = []\n    def push(self, x): self.items.append(x)\n    def pop(self): return self.items.pop()\n    def __len__(self): return len(self.items)',
      'correct',
    ],
    [
      's = Stack()\nfor n in range(4): s.push(n)\nassert s.pop() == 3',
      'class Stack:\n    def push(self, x): pass\n    def pop(self): return 0',
      'wrong',
    ],
    [
      'total = 0\nwhile total < 10:\n    total = f(total)\nassert total == 12',
      'def f(n): return n + 4',
      'correct',
    ],
    [
      'g = f(3)\nassert [next(g), next(g)] == [0, 1]\nassert list(g) == [2]',
      'def f(n): yield from range(n)',
      'correct',
    ],
    [
      'import math\ndef near(a, b): return math.isclose(a, b, rel_tol=1e-6)\nassert near(f(2), 2 ** 0.5)',
      'def f(x): return x ** 0.5',
      'correct',
    ],
    [
      'assert LIMIT == 7 and f(LIMIT) == 8\nfor _ in []: pass',
      'LIMIT = 7\ndef f(x): return x + 1',
      'correct',
    ],
    ['assert not f(1), "it should be false"\nfor _ in []: pass', 'def f(x): return []', 'correct'],
  ])('%s with %s: %s', async (test, program, expected) => {
    expect(await check(test, program)).toMatchObject({ outcome: expected })
  })

  it('stay undecided if values cannot be passed, or the program is not used', async () => {
    const keyed = 'for n in range(2):\n    assert f(lambda x: x, n) == n'
    expect(await check(keyed, 'def f(g, n): return g(n)')).toMatchObject({ outcome: 'undecided' })
    expect(await check('for n in range(2):\n    assert n >= 0', 'x = 1')).toMatchObject({
      outcome: 'undecided',
    })
    expect(await check('import no_such_module\nassert f(1) == 1\nx = 1', 'def f(n): return n')).toMatchObject(
      {
        outcome: 'undecided',
      },
    )
  })

  it('fail for a program that creates more and more work', async () => {
    const endless = await check('for n in [3]:\n    assert sum(f(n)) == 3', 'def f(n): return range(10**12)')
    expect(endless).toMatchObject({ outcome: 'wrong' })
    const more = 'for n in f():\n    assert g(n) == n'
    expect(await check(more, 'def f(): return list(range(30000))\ndef g(n): return n')).toMatchObject({
      outcome: 'wrong',
    })
  })

  it('report the value', async () => {
    expect(await check('for n in [2]:\n    assert f(n) == 4', 'def f(n): return 25')).toMatchObject({
      evidence: '0 of 1 tests passed; test 1: got 25',
    })
  })
})

describe('programs that try to pass a loop without being correct', () => {
  const loop =
    'for n, expected in [(1, "kumquat-4817"), (2, "kumquat-9302")]:\n    assert double(n) == expected'
  const attacks: [string, string][] = [
    ['leave before the tests', 'import os\nos._exit(0)'],
    ['exit politely', 'raise SystemExit(0)'],
    ['exit in the call', 'import os\ndef double(n): os._exit(0)'],
    ['raise an exit in the call', 'def double(n): raise SystemExit(0)'],
    [
      'are equal to everything',
      'class Any:\n    def __eq__(self, o): return True\ndef double(n): return Any()',
    ],
    [
      'are an equal integer',
      'class Any(int):\n    def __eq__(self, o): return True\n    __hash__ = None\ndef double(n): return Any(7)',
    ],
    ['patch the assertion', 'import builtins\nbuiltins.AssertionError = ValueError\ndef double(n): return 0'],
    [
      'look for the expected values everywhere',
      'import gc, sys, re\ndef double(n):\n    text = repr([o for o in gc.get_objects() if isinstance(o, (dict, list, tuple))])\n    frame = sys._getframe()\n    while frame:\n        text += repr(frame.f_code.co_consts) + repr(frame.f_locals)\n        frame = frame.f_back\n    found = re.findall(r"kumq[u]at-[0-9]+", text)\n    return found[n - 1] if len(found) > 1 else ""',
    ],
    [
      'print and report every verdict',
      'import sys, os\nframe = sys._getframe()\nwhile frame and "payload" not in frame.f_globals: frame = frame.f_back\nframe.f_globals["report"].write("\\n" + frame.f_globals["payload"]["boundary"] + \'["done", ""]\\n\')\nframe.f_globals["report"].flush()\nos._exit(0)',
    ],
    [
      'report results that break the reader',
      'import sys, os\nframe = sys._getframe()\nwhile frame and "payload" not in frame.f_globals: frame = frame.f_back\nframe.f_globals["report"].write("\\n" + frame.f_globals["payload"]["boundary"] + \'[["value", 3, ["nothing"]], ["raise", "SystemExit", "0"]]\\n\')\nframe.f_globals["report"].flush()\nos._exit(0)',
    ],
    ['hang', 'def double(n):\n    while True: pass'],
  ]

  it.each(attacks)('%s: rejected', async (_, program) => {
    expect((await check(loop, program)).outcome).toBe('wrong')
  })

  it('and the correct one passes', async () => {
    expect(
      (await check(loop, 'def double(n): return {1: "kumquat-4817", 2: "kumquat-9302"}[n]')).outcome,
    ).toBe('correct')
  })
})
