/** What a JSON value may be. The first character determines its kind, so no two alternatives start alike. */
export interface Shape {
  readonly id: number
  string: boolean
  /** 'integer' and 'bounded' can be parsed without loss. */
  number: 'none' | 'integer' | 'bounded' | 'any'
  /** Shape of the elements. */
  array: Shape | null
  object: ObjectShape | null
  /** Literal values. */
  literals: readonly string[]
}

export interface ObjectShape {
  readonly id: number
  /** Null if any key is allowed. */
  keys: readonly KeyShape[] | null
  /** Shape of values under any other key. */
  values: Shape
}

export interface KeyShape {
  /** With its quotes. */
  literal: string
  shape: Shape
  required: boolean
}

type Schema = Record<string, unknown>

export interface ReadSchema {
  shape: Shape
  /** Parts of the schema that the shape does not enforce. */
  unchecked: string[]
  /** Every literal, to determine the required characters. */
  literals: string[]
}

const annotations = new Set([
  ...['$schema', '$id', '$comment', 'title', 'description', 'default', 'examples', 'deprecated'],
  ...['readOnly', 'writeOnly', '$defs', 'definitions'],
])
const understood = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', 'anyOf', 'oneOf'],
])

/**
 * The part of a JSON Schema that can be enforced character by character: types, keys, elements, enumerations and
 * alternatives of different types. If keys are named, no others are written, whatever `additionalProperties` says.
 * `isSafe` says whether a literal needs no escaping.
 */
export function readSchema(schema: unknown, isSafe: (literal: string) => boolean): ReadSchema {
  const reader = new SchemaReader(isSafe)
  const read = schema === undefined ? reader.any : reader.read(schema, 'schema')
  const shape =
    read.object === null ? reader.blank({ object: reader.any.object }) : reader.blank({ object: read.object })
  if (read.object === null) reader.unchecked.push('schema.type')
  return { shape, unchecked: reader.unchecked, literals: reader.literals }
}

class SchemaReader {
  readonly unchecked: string[] = []
  readonly literals: string[] = []
  readonly any: Shape
  readonly #isSafe: (literal: string) => boolean
  #shapes = 0

  constructor(isSafe: (literal: string) => boolean) {
    this.#isSafe = isSafe
    this.any = this.blank({ string: true, number: 'any', literals: ['true', 'false', 'null'] })
    this.any.array = this.any
    this.any.object = { id: this.any.id, keys: null, values: this.any }
  }

  blank(parts: Partial<Shape>): Shape {
    return {
      string: false,
      number: 'none',
      array: null,
      object: null,
      literals: [],
      ...parts,
      id: this.#shapes++,
    }
  }

  read(schema: unknown, where: string): Shape {
    if (schema === true) return this.any
    if (!isSchema(schema)) return this.#giveUp(where)
    for (const name of Object.keys(schema)) {
      if (!annotations.has(name) && !understood.has(name)) this.unchecked.push(`${where}.${name}`)
    }
    const listed = schema['enum'] ?? ('const' in schema ? [schema['const']] : undefined)
    if (listed !== undefined) return this.#listed(listed) ?? this.#giveUp(`${where}.enum`)
    const { type, anyOf, oneOf } = schema
    const choices = anyOf ?? oneOf
    if (choices !== undefined) {
      const name = anyOf === undefined ? 'oneOf' : 'anyOf'
      const alone = Object.keys(schema).every((key) => key === name || !understood.has(key))
      if (alone) return this.#choice(choices, `${where}.${name}`)
      this.unchecked.push(`${where}.${name}`)
    }
    if (!Array.isArray(type)) return this.#ofType(type ?? impliedType(schema), schema, where)
    return this.#either(type.map((one) => this.#ofType(one, schema, where))) ?? this.#giveUp(`${where}.type`)
  }

  #ofType(type: unknown, schema: Schema, where: string): Shape {
    switch (type) {
      case 'string':
        return this.blank({ string: true })
      case 'number':
        return this.blank({ number: 'bounded' })
      case 'integer':
        return this.blank({ number: 'integer' })
      case 'boolean':
        return this.blank({ literals: ['true', 'false'] })
      case 'null':
        return this.blank({ literals: ['null'] })
      case 'array':
        return this.blank({ array: this.#part(schema['items'], `${where}.items`) })
      case 'object':
        return this.blank({ object: this.#object(schema, where) })
      default:
        return type === undefined ? this.any : this.#giveUp(`${where}.type`)
    }
  }

  #object(schema: Schema, where: string): ObjectShape {
    const properties = isSchema(schema['properties']) ? schema['properties'] : {}
    const required = Array.isArray(schema['required']) ? schema['required'].map(String) : []
    const others = schema['additionalProperties']
    const names = [...new Set([...Object.keys(properties), ...(others === false ? [] : required)])]
    const closed = names.length > 0 || others === false
    return {
      id: this.#shapes++,
      keys: closed
        ? names.map((name) => ({
            literal: this.#spell(name),
            shape: this.#part(properties[name], `${where}.properties.${name}`),
            required: required.includes(name),
          }))
        : null,
      values: closed ? this.any : this.#part(others, `${where}.additionalProperties`),
    }
  }

  #choice(choices: unknown, where: string): Shape {
    const shapes = Array.isArray(choices)
      ? choices.map((one, index) => this.read(one, `${where}.${index}`))
      : []
    return (shapes.length > 0 ? this.#either(shapes) : undefined) ?? this.#giveUp(where)
  }

  #part(schema: unknown, where: string): Shape {
    return schema === undefined ? this.any : this.read(schema, where)
  }

  /** Objects in an enumeration never compare equal in the later payload check. */
  #listed(values: unknown): Shape | undefined {
    const simple = (Array.isArray(values) ? values : []).filter(
      (value) => typeof value !== 'object' || value === null,
    )
    if (simple.length === 0) return undefined
    return this.blank({ literals: [...new Set(simple.map((value) => this.#spell(value)))] })
  }

  /** Alternatives as one shape; undefined if two of them start alike. */
  #either(shapes: readonly Shape[]): Shape | undefined {
    const beginnings = shapes.flatMap((shape) => [...new Set(firstCharacters(shape))])
    if (new Set(beginnings).size < beginnings.length) return undefined
    return this.blank({
      string: shapes.some(({ string }) => string),
      number: shapes.find(({ number }) => number !== 'none')?.number ?? 'none',
      array: shapes.find(({ array }) => array !== null)?.array ?? null,
      object: shapes.find(({ object }) => object !== null)?.object ?? null,
      literals: shapes.flatMap(({ literals }) => literals),
    })
  }

  #giveUp(where: string): Shape {
    this.unchecked.push(where)
    return this.any
  }

  /** In ASCII, because symbols do not distinguish other characters, and without accidental tags. */
  #spell(value: unknown): string {
    const ascii = JSON.stringify(value).replaceAll(/[^\0-\x7f]/g, (unit) => escaped(unit))
    const literal = this.#isSafe(ascii) ? ascii : ascii.replaceAll('<', escaped('<'))
    this.literals.push(literal)
    return literal
  }
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function impliedType(schema: Schema): string | undefined {
  return 'properties' in schema || 'required' in schema ? 'object' : undefined
}

function* firstCharacters({ string, number, array, object, literals }: Shape): Generator<string> {
  if (string) yield '"'
  if (number !== 'none') yield* '-0123456789'
  if (array !== null) yield '['
  if (object !== null) yield '{'
  for (const literal of literals) yield literal[0]!
}
