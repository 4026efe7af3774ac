import { general, isObject } from '../../../logs/index.ts'

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''

/**
 * A line for [rename] in a map with which a field of repeated objects, such as messages, is read: as part of the longest text
 * next to it, which can be corrected. Undefined if there is no such text, or the field is inside of another text.
 */
export function renameRule(at: string, source: readonly unknown[]): string | undefined {
  const path = general(at)
  if (!path.includes('[]')) return undefined
  for (const value of source) {
    const [parent, key] = parentOf(value, at) ?? []
    if (parent === undefined) continue
    const texts = Object.entries(parent).filter(([name, text]) => name !== key && isText(text))
    const [longest] = texts.toSorted(([, one], [, other]) => String(other).length - String(one).length)
    if (longest !== undefined) return `${JSON.stringify(path)} = ${JSON.stringify(longest[0])}`
  }
  return undefined
}

/** The object with the field at a path, and the field's key, which may contain dots. */
function parentOf(value: unknown, path: string): [Record<string, unknown>, string] | undefined {
  if (Array.isArray(value)) {
    const [whole, index] = /^\[(\d+)\]\.?/.exec(path) ?? []
    return whole === undefined ? undefined : parentOf(value[Number(index)], path.slice(whole.length))
  }
  if (!isObject(value)) return undefined
  for (const [key, child] of Object.entries(value)) {
    if (path === key) return [value, key]
    if (!path.startsWith(`${key}.`) && !path.startsWith(`${key}[`)) continue
    const found = parentOf(child, path.slice(key.length).replace(/^\./, ''))
    if (found !== undefined) return found
  }
  return undefined
}
