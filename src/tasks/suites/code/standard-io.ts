import type { Json, Parameter, ValueType } from './draft.ts'

/** The format of a type on standard input and output, and the Python that reads and prints it. */
interface Format {
  input: string
  output: string
  write(value: Json): string[]
  read: string
  print: string
}

const line = (value: Json): string => (value as number[]).join(' ')

export const formats: Record<ValueType, Format> = {
  int: {
    ...{ input: 'one line with the integer', output: 'Print the number.' },
    write: (value) => [String(value)],
    ...{ read: 'int(next(lines))', print: 'print(result)' },
  },
  ints: {
    input: 'one line with the integers, separated by spaces (an empty line for the empty list)',
    output: 'Print the numbers on one line, separated by spaces (an empty line if there are none).',
    write: (value) => [line(value)],
    ...{ read: '[int(part) for part in next(lines).split()]', print: 'print(*result)' },
  },
  str: {
    ...{ input: 'one line with the text (it can be empty)', output: 'Print the text on one line.' },
    write: (value) => [String(value)],
    ...{ read: 'next(lines)', print: 'print(result)' },
  },
  strs: {
    input: 'a line with the number of strings, then one string on each line',
    output: 'Print one string on each line (nothing if there are none).',
    write: (value) => [String((value as string[]).length), ...(value as string[])],
    read: '[next(lines) for _ in range(int(next(lines)))]',
    print: 'for row in result:\n    print(row)',
  },
  pairs: {
    input:
      'a line with the number of pairs, then one pair on each line, its two integers separated by a space',
    output: 'Print one pair on each line, its two numbers separated by a space (nothing if there are none).',
    write: (value) => [String((value as Json[]).length), ...(value as Json[]).map(line)],
    read: '[[int(part) for part in next(lines).split()] for _ in range(int(next(lines)))]',
    print: 'for row in result:\n    print(*row)',
  },
  rows: {
    input: 'a line with the number of rows, then one row on each line, its integers separated by spaces',
    output: 'Print one row on each line, its numbers separated by spaces (nothing if there are none).',
    write: (value) => [String((value as Json[]).length), ...(value as Json[]).map(line)],
    read: '[[int(part) for part in next(lines).split()] for _ in range(int(next(lines)))]',
    print: 'for row in result:\n    print(*row)',
  },
}

export const stdinOf = (parameters: readonly Parameter[], args: readonly Json[]): string =>
  parameters
    .flatMap(({ type }, index) => formats[type].write(args[index]!))
    .map((text) => `${text}\n`)
    .join('')

/** What a program prints for a result. Unlike input, printed lists do not start with their length. */
export function stdoutOf(type: ValueType, result: Json): string {
  const lines = formats[type].write(result)
  const shown = type === 'strs' || type === 'pairs' || type === 'rows' ? lines.slice(1) : lines
  return shown.map((text) => `${text}\n`).join('')
}

/** Removes what the checker ignores: trailing white space and empty lines at the end. */
export const comparable = (stdout: string): string =>
  stdout
    .split('\n')
    .map((text) => text.trimEnd())
    .join('\n')
    .trimEnd()
