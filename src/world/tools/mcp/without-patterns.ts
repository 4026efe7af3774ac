type Schema = Record<string, unknown>

/** Keys whose values are data, not schemas. */
const data = new Set(['const', 'default', 'enum', 'example', 'examples'])
/** Keys whose values have a schema under each name, whatever the name is. */
const named = new Set(['properties', '$defs', 'definitions', 'dependentSchemas'])

/**
 * A JSON Schema without its regular expressions. A pattern of someone else's choosing, run on what a model writes, can
 * take hours (`^(a+)+$`), so only the server, whose patterns they are, checks them. The model is told of them in words.
 */
export function withoutPatterns(schema: Schema): Schema {
  const { pattern, patternProperties, ...rest } = schema
  const plain = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => {
      if (data.has(key)) return [key, value]
      return [key, named.has(key) && isSchema(value) ? eachInner(value) : inner(value)]
    }),
  )
  if (typeof pattern === 'string')
    plain['description'] = inWords(plain['description'], `Must match the pattern ${pattern}`)
  if (!isSchema(patternProperties)) return plain
  // Without the patterns nobody here can tell which other names are allowed.
  delete plain['additionalProperties']
  const names = Object.keys(patternProperties).join(', ')
  plain['description'] = inWords(plain['description'], `Further names must match a pattern: ${names}`)
  return plain
}

function eachInner(schemas: Schema): Schema {
  return Object.fromEntries(Object.entries(schemas).map(([name, value]) => [name, inner(value)]))
}

function inner(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inner)
  return isSchema(value) ? withoutPatterns(value) : value
}

function inWords(description: unknown, addition: string): string {
  return typeof description === 'string' ? `${description} ${addition}` : addition
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
