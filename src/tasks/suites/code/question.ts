import type { Draft, Json } from './draft.ts'
import type { CodeProgram } from './program.ts'
import { pythonTypes, pythonValue } from './python-text.ts'
import { formats, stdinOf, stdoutOf } from './standard-io.ts'

interface Example {
  args: Json[]
  result: Json
}

export function questionOf(draft: Draft, style: CodeProgram['style'], examples: readonly Example[]): string {
  return style === 'functional' ? functionQuestion(draft, examples) : programQuestion(draft, examples)
}

function functionQuestion({ entry, parameters, returns, spec }: Draft, examples: readonly Example[]): string {
  const typed = parameters.map(({ name, type }) => `${name}: ${pythonTypes[type]}`).join(', ')
  const calls = examples.map(
    ({ args, result }) => `${entry}(${args.map(pythonValue).join(', ')}) returns ${pythonValue(result)}`,
  )
  return [
    `Write a Python function \`${entry}(${typed}) -> ${pythonTypes[returns]}\`.`,
    joined(spec),
    `${calls.length === 1 ? 'Example' : 'Examples'}:\n${calls.join('\n')}`,
  ].join('\n\n')
}

function programQuestion({ parameters, returns, spec }: Draft, examples: readonly Example[]): string {
  const printed = joined(spec)
    .replace(/\bReturn\b/g, 'Print')
    .replace(/\breturn\b/g, 'print')
  const inputs = parameters.map(({ name, type }) => `- ${name}: ${formats[type].input}`)
  const shown = examples.map(
    ({ args, result }) =>
      `Input:\n${stdinOf(parameters, args).trimEnd()}\nOutput:\n${stdoutOf(returns, result).trimEnd()}`,
  )
  return [
    'Write a Python program that reads from standard input and prints to standard output.',
    printed,
    `The input holds, in this order:\n${inputs.join('\n')}`,
    formats[returns].output,
    `${shown.length === 1 ? 'Example' : 'Examples'}\n${shown.join('\n\n')}`,
  ].join('\n\n')
}

const joined = (spec: readonly string[]): string => spec.join(' ').replace(/ \n/g, '\n')
