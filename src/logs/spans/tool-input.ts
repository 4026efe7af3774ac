import type { Json } from '../contract.ts'
import { asJson, isObject, parsedOr } from '../json.ts'
import { pythonValue } from '../python-literal.ts'

/** What a tool was called with, without what decorators of functions wrap around it. */
export function inputOf(value: unknown): Json {
  const read = parsedOr(value)
  const input = typeof read === 'string' && /^\s*\{/.test(read) ? asJson(pythonValue(read) ?? read) : read
  if (!isObject(input)) return input
  const keys = Object.keys(input)
  if (keys.length > 0 && keys.every((key) => wrapper.has(key))) {
    const args = input['args']
    const named = input['kwargs'] ?? input['inputs'] ?? input['input_str'] ?? input['input'] ?? {}
    const isNamed = !isObject(named) || Object.keys(named).length > 0
    if (!Array.isArray(args) || args.length === 0) return inputOf(named)
    if (!isNamed) return args.length === 1 ? inputOf(args[0]) : args
  }
  return input
}

const wrapper = new Set([
  'args',
  'kwargs',
  'inputs',
  'input_str',
  'tags',
  'metadata',
  'sanitize_inputs_outputs',
])
