type Schema = Record<string, unknown>

/** Keys whose values are data, not schemas. */
const data = new Set(['const', 'default', 'enum', 'example', 'examples'])
/** Keys whose values map arbitrary names to schemas. */
const named = new Set(['properties', '$defs', 'definitions', 'dependentSchemas'])

/**
 * Removes regular expressions from a JSON Schema. An untrusted pattern applied to model output can take hours
 * (`^(a+)+$`), so only the server that defined it checks it. The description tells the model about it.
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
    plain['description'] = appendSentence(plain['description'], `Must match the pattern ${pattern}`)
  if (!isSchema(patternProperties)) return plain
  // Without the patterns we cannot tell which other names are allowed.
  delete plain['additionalProperties']
  const names = Object.keys(patternProperties).join(', ')
  plain['description'] = appendSentence(plain['description'], `Further names must match a pattern: ${names}`)
  return plain
}

function eachInner(schemas: Schema): Schema {
  return Object.fromEntries(Object.entries(schemas).map(([name, value]) => [name, inner(value)]))
}

function inner(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inner)
  return isSchema(value) ? withoutPatterns(value) : value
}

function appendSentence(description: unknown, addition: string): string {
  return typeof description === 'string' ? `${description} ${addition}` : addition
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
