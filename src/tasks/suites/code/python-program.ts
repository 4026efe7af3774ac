import type { Draft, Version } from './draft.ts'
import { indented } from './extend.ts'
import type { CodeProgram } from './program.ts'
import { formats } from './standard-io.ts'

type Style = CodeProgram['style']

/** A whole Python answer: the function, and for standard input the lines that read and print. */
export function pythonProgram(
  { entry, parameters, returns }: Draft,
  { python }: Version,
  style: Style,
): string {
  const names = parameters.map(({ name }) => name).join(', ')
  const definition = `def ${entry}(${names}):\n${indented(python)}\n`
  if (style === 'functional') return definition
  const reads = parameters.map(({ name, type }) => `${name} = ${formats[type].read}`)
  return [
    ...['import sys', '', '', definition, '', "lines = iter(sys.stdin.read().split('\\n'))", ...reads],
    ...[`result = ${entry}(${names})`, formats[returns].print, ''],
  ].join('\n')
}
