type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value }

/** A card's metadata as YAML. Strings are written as JSON, which is YAML too. */
export function frontMatter(values: Record<string, Value | undefined>): string {
  const lines = Object.entries(values).flatMap(([key, value]) =>
    value === undefined || (Array.isArray(value) && value.length === 0)
      ? []
      : [`${key}: ${JSON.stringify(value)}`],
  )
  return `---\n${lines.join('\n')}\n---`
}
