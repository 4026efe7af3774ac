import ts from 'typescript'
import type { PublicNames } from './public-names.ts'

/** Types that would take more are cut: the reference names fields, the schema itself says the rest. */
const LONGEST = 90

/** The type of a record, a line for each field, with the comments of the schema. */
export function recordFields(type: ts.Type, name: string, names: PublicNames): string {
  const { checker } = names
  if (!isObject(type)) {
    const members = type.isUnion() ? type.types : [type]
    const lines = sorted(
      members.map((each) => (isObject(each) ? inline(each, names) : typeText(each, names))),
    )
    const line = `type ${name} = ${lines.join(' | ')}`
    return line.length <= LONGEST ? line : `type ${name} =\n${lines.map((each) => `  | ${each}`).join('\n')}`
  }
  const fields = type.getProperties().map((property) => {
    const comment = ts.displayPartsToString(property.getDocumentationComment(checker)).replaceAll(/\s+/g, ' ')
    return `${comment === '' ? '' : `  /** ${comment.trim()} */\n`}  ${fieldOf(property, names)}`
  })
  return `interface ${name} {\n${fields.join('\n')}\n}`
}

function isObject(type: ts.Type): boolean {
  return (type.flags & ts.TypeFlags.Object) !== 0
}

/** The compiler orders the members of a union by when it met them, which depends on code elsewhere. */
function sorted(texts: readonly string[]): string[] {
  const rest = [...new Set(texts)].filter((text) => text !== 'null').sort()
  return texts.includes('null') ? [...rest, 'null'] : rest
}

function inline(type: ts.Type, names: PublicNames): string {
  const fields = type.getProperties().map((property) => fieldOf(property, names))
  return `{ ${fields.join('; ')} }`
}

function fieldOf(property: ts.Symbol, names: PublicNames): string {
  const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0
  const type = names.checker.getTypeOfSymbol(property)
  const text = typeText(isOptional ? names.checker.getNonNullableType(type) : type, names)
  return `${property.name}${isOptional ? '?' : ''}: ${text.length <= LONGEST ? text : shortened(text)}`
}

function shortened(text: string): string {
  if (!text.startsWith('{')) return `${text.slice(0, LONGEST)}…`
  return text.endsWith('}[]') ? '{ … }[]' : '{ … }'
}

function typeText(type: ts.Type, names: PublicNames): string {
  const { checker } = names
  const known = names.types.get(type)
  if (known !== undefined) return known
  if (checker.isArrayType(type)) {
    const [item] = checker.getTypeArguments(type as ts.TypeReference)
    const text = item === undefined ? 'unknown' : typeText(item, names)
    return text.includes(' | ') && !text.startsWith('{') ? `(${text})[]` : `${text}[]`
  }
  if (type.isUnion() && type.aliasSymbol === undefined && !(type.flags & ts.TypeFlags.Boolean))
    return unionText(type, names)
  const isPlain = type.aliasSymbol === undefined && type.getCallSignatures().length === 0
  if (isPlain && isObject(type) && type.getProperties().length > 0 && type.symbol?.name === '__type')
    return inline(type, names)
  return checker.typeToString(
    type,
    undefined,
    ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseSingleQuotesForStringLiteralType,
  )
}

function unionText({ types }: ts.UnionType, names: PublicNames): string {
  const texts = types.map((each) => typeText(each, names))
  const both = texts.includes('true') && texts.includes('false')
  return sorted(
    both ? [...texts.filter((text) => text !== 'true' && text !== 'false'), 'boolean'] : texts,
  ).join(' | ')
}
