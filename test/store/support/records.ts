import fc from 'fast-check'
import { z } from 'zod'
import {
  PathName,
  type RecordKind,
  type RecordOf,
  recordKinds,
  recordSchemas,
} from '../../../src/schema/index.ts'
import type { RecordInput } from '../../../src/store/index.ts'

export function task(id: string, question = 'What is 1 + 1?'): RecordInput<'task'> {
  return { v: 1, id, suite: 'test', domain: 'math', question, gold: { checker: 'math', answer: '2' } }
}

/** Tricky strings: line ends, quotes, NUL, byte order marks, astral characters, lone surrogates. */
export const anyString: fc.Arbitrary<string> = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom('\n', '\r\n', '\0', '"', '\\', '\uFEFF', '\uD800', '\uDC00', '😀', '\u2028', 'é', 'a'),
    )
    .map((parts) => parts.join('')),
)

/** JSON writes -0 as 0, so the log cannot distinguish them. */
const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value))

/** `__proto__` is excluded: Zod drops the key from records and z.json values. */
const key = anyString.filter((name) => name !== '__proto__')

const json: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    finite,
    anyString,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
})).value

/** Values accepted by a schema, derived from the schema itself so that new kinds and fields are covered. */
function valuesOf(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const def = (schema as z.core.$ZodTypes)._zod.def
  switch (def.type) {
    case 'string':
      if (schema === PathName) return fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/)
      if ('format' in def && def.format === 'datetime')
        return fc
          .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
          .map((date) => date.toISOString())
      return def.checks?.length ? anyString.filter((value) => z.safeParse(schema, value).success) : anyString
    case 'number': {
      const integer = fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.nat(9))
      const isInteger = z.safeParse(schema, 0.5).success === false
      return (isInteger ? integer : finite).filter((value) => z.safeParse(schema, value).success)
    }
    case 'boolean':
      return fc.boolean()
    case 'literal':
      return fc.constantFrom(...def.values)
    case 'enum':
      return fc.constantFrom(...Object.values(def.entries))
    case 'array': {
      const minLength = z.safeParse(schema, []).success ? 0 : 1
      return fc.array(valuesOf(def.element), { minLength, maxLength: 3 })
    }
    case 'record':
      return fc.dictionary(key, valuesOf(def.valueType), { maxKeys: 3 })
    case 'union':
      return fc.oneof(...def.options.map(valuesOf))
    case 'nullable':
      return fc.option(valuesOf(def.innerType), { nil: null })
    case 'default':
      return valuesOf(def.innerType)
    case 'lazy':
      return json
    case 'object': {
      const entries = Object.entries(def.shape)
      const optional = entries.filter(
        ([, field]) => field._zod.optin === 'optional' && field._zod.optout === 'optional',
      )
      const fields = entries.map(([name, field]) => [name, valuesOf(unwrapOptional(field))])
      const requiredKeys = entries
        .map(([name]) => name)
        .filter((name) => !optional.some(([other]) => other === name))
      return fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, { requiredKeys })
    }
    default:
      throw new Error(`no arbitrary for ${def.type}`)
  }
}

function unwrapOptional(schema: z.core.$ZodType): z.core.$ZodType {
  const def = (schema as z.core.$ZodTypes)._zod.def
  return def.type === 'optional' ? def.innerType : schema
}

/** Records of a kind. Ids are well-formed, as the store requires. */
export function recordsOf<K extends RecordKind>(kind: K): fc.Arbitrary<RecordOf<K>> {
  const text = anyString.filter((value) => value.length > 0 && value.isWellFormed())
  const id = recordSchemas[kind].shape.id === PathName ? valuesOf(PathName) : text
  return fc.tuple(valuesOf(recordSchemas[kind]), id).map(([record, ownId]) => {
    const value = { ...(record as object), id: ownId }
    return recordSchemas[kind].parse(value) as RecordOf<K>
  })
}

export const anyRecord: fc.Arbitrary<{ kind: RecordKind; record: RecordOf<RecordKind> }> = fc
  .constantFrom(...recordKinds)
  .chain((kind) => recordsOf(kind).map((record) => ({ kind, record })))
