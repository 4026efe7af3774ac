import type { Json, ValueType } from './draft.ts'

/** A value as Python prints it. Texts here have no control characters and no single quotes. */
export function pythonValue(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return value === null ? 'None' : String(value)
}

export const pythonTypes: Record<ValueType, string> = {
  ...{ int: 'int', ints: 'list[int]', str: 'str', strs: 'list[str]' },
  ...{ pairs: 'list[list[int]]', rows: 'list[list[int]]' },
}
