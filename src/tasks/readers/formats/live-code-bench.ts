import { inflateSync } from 'node:zlib'
import { type Gold, parseJson } from '../../../schema/index.ts'
import { isObject } from '../files/raw-row.ts'
import type { Format } from '../format.ts'
import { type Row, RowProblem } from '../row.ts'
import { codeGold } from './code.ts'
import { unpickleString } from './unpickle-string.ts'

type CodeTest = Extract<Gold, { checker: 'code' }>['tests'][number]

/** The imports that LeetCode solutions rely on; the benchmark's own runner adds them too. */
const usualImports = [
  'import sys, re, math, string, random, heapq, bisect, copy, itertools, functools, collections, operator, datetime',
  'from typing import Any, Dict, FrozenSet, Iterable, List, Optional, Set, Tuple, Union',
  'from collections import Counter, OrderedDict, defaultdict, deque, namedtuple',
  'from functools import cache, cmp_to_key, lru_cache, reduce',
  'from heapq import heapify, heappop, heappush, heappushpop, heapreplace, nlargest, nsmallest',
  'from bisect import bisect_left, bisect_right, insort',
  'from itertools import accumulate, chain, combinations, groupby, pairwise, permutations, product',
  'from math import ceil, comb, floor, gcd, inf, isqrt, lcm, log, log2, sqrt',
].join('\n')

/** Larger unpacked tests are rejected; the largest known are tens of megabytes. */
const largestTests = 512 * 1024 * 1024

/** LiveCodeBench code generation, full and lite. All tests count, public and private. */
export const liveCodeBench: Format = {
  columns: ['question_content', 'question_id', 'public_test_cases', 'private_test_cases'],
  draft(row) {
    const entry = row.object('metadata')['func_name']
    const tests = ['public_test_cases', 'private_test_cases'].flatMap((name) => casesOf(row, name, entry))
    if (tests.length === 0) throw new RowProblem('it has no tests')
    const starter = row.optionalText('starter_code')
    const task =
      starter === undefined
        ? 'Write a Python program that reads from standard input and prints to standard output.'
        : `Write a Python program that starts from this code:\n\n\`\`\`python\n${starter.trimEnd()}\n\`\`\``
    return {
      key: row.text('question_id'),
      question: `${row.text('question_content').trim()}\n\n${task}`,
      gold: codeGold(tests, usualImports),
      meta: {
        title: row.optionalText('question_title'),
        platform: row.optionalText('platform'),
        contest: row.optionalText('contest_id'),
        date: row.optionalText('contest_date'),
        difficulty: row.optionalText('difficulty'),
      },
    }
  },
}

function casesOf(row: Row, name: string, entry: unknown): CodeTest[] {
  const packed = row.value(name)
  if (packed === undefined) return []
  const cases = typeof packed === 'string' ? unpack(packed, name) : packed
  if (!Array.isArray(cases)) throw new RowProblem(`its ${name} are not a list`)
  return cases.map((test: unknown) => {
    if (!isObject(test)) throw new RowProblem(`its ${name} contain something that is not a test`)
    const [input, output] = [String(test['input'] ?? ''), String(test['output'] ?? '')]
    if (test['testtype'] !== 'functional') return { style: 'stdio', stdin: input, stdout: output }
    if (typeof entry !== 'string') throw new RowProblem('it tests a function, but metadata has no func_name')
    const values = input.split('\n').filter((line) => line.trim() !== '')
    return {
      style: 'functional',
      entry,
      args: values.map(readValue) as [],
      expected: readValue(output) as null,
    }
  })
}

/** JSON text, or in the lite files Base64 of deflated, pickled JSON text. */
function unpack(packed: string, name: string): unknown {
  try {
    if (/^\s*\[/.test(packed)) return parseJson(packed)
    const inflated = inflateSync(Buffer.from(packed, 'base64'), { maxOutputLength: largestTests })
    return parseJson(unpickleString(inflated))
  } catch (error) {
    throw new RowProblem(`its ${name} cannot be unpacked: ${(error as Error).message.slice(0, 120)}`)
  }
}

function readValue(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw new RowProblem('a value in its tests is not JSON')
  }
}
