import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { SandboxDriver } from '../../src/world/sandbox/index.ts'
import { leftAfterCleanup, run, subjects } from './drivers.ts'

/** The same small programs in both languages. */
const programs = {
  python: {
    hello: 'print("hello")',
    echo: 'import sys\nprint(sys.stdin.read().upper(), end="")',
    lines: 'print(input() + "|" + input())',
    file: 'import helper\nprint(helper.value, open("data/words.txt", encoding="utf-8").read())',
    helper: ['helper.py', 'value = 42'],
    exit: (code: number) => `import sys\nprint("before")\nsys.exit(${code})`,
    fail: 'def inner():\n    raise ValueError("broken here")\ninner()',
    failure: [/ValueError: broken here/, /main\.py", line 2, in inner/],
    syntax: 'print("a"\nx = = 3',
    unicode: 'print("žluťoučký 🐎 你好")',
    much: 'print("é" * 100_000)',
    muchForever: 'print("é" * 1000, flush=True)\nwhile True: pass',
    both: 'import sys\nprint("to out")\nprint("to err", file=sys.stderr)',
    forever: 'print("started", flush=True)\nwhile True: pass',
    work: `for n in range(2_500_000): n * n % 7\nprint("worked")`,
    sleep: (ms: number) => `import time\ntime.sleep(${ms / 1000})\nprint("slept")`,
    where: 'import os\nprint(os.getcwd())',
    number: (value: number) => `print(${value} * 2)`,
  },
  javascript: {
    hello: 'console.log("hello")',
    echo: 'process.stdout.write(require("fs").readFileSync(0, "utf8").toUpperCase())',
    lines:
      'const [a, b] = require("fs").readFileSync("/dev/stdin", "utf8").split("\\n"); console.log(a + "|" + b)',
    file: 'console.log(require("./helper").value, require("fs").readFileSync("data/words.txt", "utf8"))',
    helper: ['helper.js', 'exports.value = 42'],
    exit: (code: number) => `console.log("before"); process.exit(${code})`,
    fail: 'function inner() {\n  throw new TypeError("broken here")\n}\ninner()',
    failure: [/TypeError: broken here/, /inner \(.*main\.js:2/],
    syntax: 'console.log("a"\nlet let = 3',
    unicode: 'console.log("žluťoučký 🐎 你好")',
    much: 'console.log("é".repeat(100_000))',
    muchForever: 'console.log("é".repeat(1000)); for (;;);',
    both: 'console.log("to out"); console.error("to err")',
    forever: 'console.log("started"); for (;;);',
    work: '',
    sleep: (ms: number) => `setTimeout(() => console.log("slept"), ${ms})`,
    where: 'console.log("/box")',
    number: (value: number) => `console.log(${value} * 2)`,
  },
}

for (const subject of await subjects()) {
  const { language } = subject
  const program = programs[language]
  describe(`${subject.name} runs ${language}`, () => {
    let driver: SandboxDriver
    beforeAll(async () => {
      driver = await subject.open(2)
    })
    afterAll(async () => {
      await driver.close()
      expect(await leftAfterCleanup()).toEqual([])
    })
    const limits = { wallMs: 20_000 }
    const go = (code: string, more: object = {}) => run(driver, { language, code, limits, ...more })

    test('says hello', async () => {
      const { ms, ...result } = await go(program.hello)
      expect(result).toEqual({
        ...{ stdout: 'hello\n', stderr: '', exit: 0, timedOut: false, truncated: false },
        driver: subject.name,
      })
      expect(ms).toBeGreaterThan(0)
    })

    test('reads stdin, as a whole and by lines', async () => {
      expect((await go(program.echo, { stdin: 'one\ntwo\n' })).stdout).toBe('ONE\nTWO\n')
      expect((await go(program.echo)).stdout).toBe('')
      expect((await go(program.echo, { stdin: 'a\0b\x01c\x010' })).stdout).toBe('A\0B\x01C\x010')
      expect((await go(program.lines, { stdin: 'a\nb\nc\n' })).stdout).toBe('a|b\n')
      const long = 'x'.repeat(300_000)
      const result = await go(program.echo, { stdin: long, limits: { ...limits, outputBytes: 1_000_000 } })
      expect(result.stdout).toBe(long.toUpperCase())
    })

    test('finds the given files', async () => {
      const [path, text] = program.helper as [string, string]
      const files = { [path]: text, 'data/words.txt': 'naïve 語' }
      expect((await go(program.file, { files })).stdout).toBe('42 naïve 語\n')
      expect((await go(program.where)).stdout).toBe('/box\n')
    })

    test('returns the exit code', async () => {
      for (const code of [0, 1, 3, 42, 255]) {
        const result = await go(program.exit(code))
        expect([result.exit, result.stdout, result.signal]).toEqual([code, 'before\n', undefined])
      }
    })

    test('shows an uncaught exception with its location', async () => {
      const result = await go(program.fail)
      expect(result.exit).toBe(1)
      for (const pattern of program.failure) expect(result.stderr).toMatch(pattern)
      // Only the program's own frames, none of the sandbox.
      expect(result.stderr).not.toMatch(/_run|<exec>|python-bootstrap|src\/world\/sandbox/)
      const broken = await go(program.syntax)
      expect(broken.exit).toBe(1)
      expect(broken.stderr).toMatch(/SyntaxError/)
    })

    test('preserves Unicode', async () => {
      expect((await go(program.unicode)).stdout).toBe('žluťoučký 🐎 你好\n')
    })

    test('separates stdout and stderr', async () => {
      const result = await go(program.both)
      expect([result.stdout, result.stderr]).toEqual(['to out\n', 'to err\n'])
    })

    test('truncates long output at a whole character', async () => {
      const result = await go(program.much, { limits: { ...limits, outputBytes: 1001 } })
      expect(result.stdout).toBe('é'.repeat(500))
      expect([result.truncated, result.exit]).toEqual([true, 0])
      const killed = await go(program.muchForever, { limits: { cpuMs: 500, outputBytes: 1001 } })
      expect([killed.truncated, killed.timedOut, killed.stdout]).toEqual([true, true, 'é'.repeat(500)])
      const enough = await go(program.much, { limits: { ...limits, outputBytes: 200_001 } })
      expect([enough.truncated, enough.stdout.length]).toEqual([false, 100_001])
    })

    test('stops at the CPU time limit, and keeps the earlier output', async () => {
      await go(program.hello)
      const result = await go(program.forever, { limits: { cpuMs: 700 } })
      expect(result).toMatchObject({ timedOut: true, exit: null, signal: 'SIGKILL', stdout: 'started\n' })
      expect(result.starved).toBeUndefined()
      expect(result.ms).toBeGreaterThan(600)
      expect((await go(program.hello)).stdout).toBe('hello\n')
    })

    test.skipIf(language === 'javascript')(
      'does not judge a program as slow because the machine is busy',
      async () => {
        const spinners = Array.from({ length: 4 }, () => spawn(process.execPath, ['-e', 'for (;;);']))
        onTestFinished(() => {
          for (const spinner of spinners) spinner.kill('SIGKILL')
        })
        // About half a second of CPU time; with four others on two cores that takes longer.
        const result = await go(program.work, { limits: { cpuMs: 2_000, wallMs: 120_000 } })
        expect([result.stdout, result.timedOut]).toEqual(['worked\n', false])
      },
    )

    // In pyodide sleeping is a busy wait.
    test.skipIf(subject.name === 'pyodide')('judges a program that only sleeps as slow', async () => {
      const result = await go(program.sleep(60_000), { limits: { cpuMs: 300, wallMs: 120_000 } })
      expect(result).toMatchObject({ timedOut: true, exit: null, signal: 'SIGKILL', stdout: '' })
      expect(result.starved).toBeUndefined()
    })

    test('stops at the wall limit, and reports that the program had CPU time left', async () => {
      const result = await go(program.sleep(60_000), { limits: { cpuMs: 30_000, wallMs: 700 } })
      expect(result).toMatchObject({
        timedOut: true,
        starved: true,
        exit: null,
        signal: 'SIGKILL',
        stdout: '',
      })
    })

    test('waits without being stopped', async () => {
      const result = await go(program.sleep(300))
      expect([result.stdout, result.timedOut]).toEqual(['slept\n', false])
      expect(result.ms).toBeGreaterThan(290)
    })

    test('isolates concurrent runs', async () => {
      const values = Array.from({ length: 12 }, (_, index) => index)
      const results = await Promise.all(values.map((value) => go(program.number(value))))
      expect(results.map(({ stdout }) => stdout)).toEqual(values.map((value) => `${value * 2}\n`))
    })

    test('can be aborted before the run, in the queue and while running', async () => {
      const reason = new Error('enough')
      const request = { language, code: program.forever, limits: { wallMs: 60_000 } }
      await expect(run(driver, request, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
      const controllers = [1, 2, 3].map(() => new AbortController())
      const runs = controllers.map(({ signal }) => run(driver, request, { signal }))
      const settled = Promise.allSettled(runs)
      controllers[2]?.abort(reason)
      await expect(runs[2]).rejects.toBe(reason)
      await sleep(200)
      for (const controller of controllers) controller.abort(reason)
      for (const outcome of await settled) expect(outcome).toEqual({ status: 'rejected', reason })
      expect((await go(program.hello)).stdout).toBe('hello\n')
    })
  })
}
