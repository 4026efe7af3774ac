import ts from 'typescript'
import { type PublicNames, publicText } from './public-names.ts'
import { recordFields } from './record-fields.ts'

/** Longer lines are broken. */
const WIDTH = 100

/** A definition as a reader of the reference needs it: what goes in and what comes out. */
export function declarationOf(
  symbol: ts.Symbol,
  name: string,
  typeOnly: boolean,
  names: PublicNames,
): string {
  const declarations = symbol.declarations ?? []
  if (!typeOnly) {
    const functions = declarations.filter(ts.isFunctionDeclaration)
    const overloads = functions.filter(({ body }) => body === undefined)
    const shown = overloads.length > 0 ? overloads : functions
    if (shown.length > 0) return shown.map((each) => functionText(each, name, names)).join('\n')
    const variable = declarations.find(ts.isVariableDeclaration)
    if (variable !== undefined) return constantText(symbol, variable, name, names)
  }
  return declarations
    .filter((each) => !ts.isVariableDeclaration(each))
    .map((each) =>
      ts.isClassDeclaration(each) ? classText(each, name, names) : typeText(symbol, each, name, names),
    )
    .join('\n')
}

function functionText(
  declaration: ts.FunctionDeclaration | ts.MethodDeclaration,
  name: string,
  names: PublicNames,
): string {
  const isFunction = ts.isFunctionDeclaration(declaration)
  const parameters = declaration.parameters.map((each) => parameterText(each, names))
  const result = resultText(declaration, names)
  const types = declaration.typeParameters?.map((each) => each.getText()).join(', ')
  const head = `${isFunction ? 'function ' : ''}${name}${types === undefined ? '' : `<${types}>`}`
  const line = `${head}(${parameters.join(', ')}): ${result}`
  if (line.length <= WIDTH && !line.includes('\n')) return line
  const indented = parameters.map((each) => `  ${each.replaceAll('\n', '\n  ')},\n`)
  return `${head}(\n${indented.join('')}): ${result}`
}

function parameterText(parameter: ts.ParameterDeclaration, names: PublicNames): string {
  const name = ts.isIdentifier(parameter.name) ? parameter.name.text : 'options'
  const optional = parameter.questionToken !== undefined || parameter.initializer !== undefined ? '?' : ''
  const type = writtenType(parameter, names)
  return `${parameter.dotDotDotToken === undefined ? '' : '...'}${name}${optional}: ${type}`
}

function resultText(declaration: ts.SignatureDeclaration, names: PublicNames): string {
  const { checker } = names
  if (declaration.type !== undefined) return publicText(declaration.type, names)
  const signature = checker.getSignatureFromDeclaration(declaration)
  return signature === undefined
    ? 'void'
    : checker.typeToString(signature.getReturnType(), declaration, ts.TypeFormatFlags.NoTruncation)
}

function writtenType(
  declaration: ts.ParameterDeclaration | ts.PropertyDeclaration,
  names: PublicNames,
): string {
  const { checker } = names
  return declaration.type === undefined
    ? checker.typeToString(checker.getTypeAtLocation(declaration))
    : publicText(declaration.type, names)
}

function constantText(
  symbol: ts.Symbol,
  declaration: ts.VariableDeclaration,
  name: string,
  names: PublicNames,
): string {
  const { checker } = names
  if (declaration.type !== undefined) return `const ${name}: ${publicText(declaration.type, names)}`
  // A schema and its records share a name: what a record holds says what the schema takes.
  if (symbol.flags & ts.SymbolFlags.TypeAlias)
    return recordFields(checker.getDeclaredTypeOfSymbol(symbol), name, names)
  const type = checker.getTypeAtLocation(declaration)
  const keys = checker.getPropertiesOfType(type).map((each) => each.name)
  return `const ${name}: { ${keys.join(', ')} }`
}

/** Public members only, without bodies. */
function classText(declaration: ts.ClassDeclaration, name: string, names: PublicNames): string {
  const members = declaration.members.flatMap((member) => {
    if (
      member.name === undefined ? !ts.isConstructorDeclaration(member) : ts.isPrivateIdentifier(member.name)
    )
      return []
    const flags = ts.getCombinedModifierFlags(member)
    if (flags & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) return []
    const isStatic = flags & ts.ModifierFlags.Static ? 'static ' : ''
    const text = memberText(member, names)
    return text === undefined ? [] : [indent(commentOf(member) + isStatic + text)]
  })
  const types = declaration.typeParameters?.map((each) => each.getText()).join(', ')
  const parents = declaration.heritageClauses?.map((each) => ` ${each.getText()}`).join('') ?? ''
  return `class ${name}${types === undefined ? '' : `<${types}>`}${parents} {\n${members.join('\n')}\n}`
}

function memberText(member: ts.ClassElement, names: PublicNames): string | undefined {
  const name = member.name?.getText() ?? ''
  if (ts.isConstructorDeclaration(member)) {
    const parameters = member.parameters.map((each) => parameterText(each, names))
    return `constructor(${parameters.join(', ')})`
  }
  if (ts.isMethodDeclaration(member)) return functionText(member, name, names)
  if (ts.isGetAccessorDeclaration(member)) return `get ${name}(): ${resultText(member, names)}`
  if (!ts.isPropertyDeclaration(member)) return undefined
  const isReadonly = ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Readonly
  return `${isReadonly ? 'readonly ' : ''}${name}: ${writtenType(member, names)}`
}

function commentOf(node: ts.Node): string {
  const [comment] = ts.getJSDocCommentsAndTags(node)
  return comment === undefined ? '' : `${comment.getText().replaceAll(/\n\s*\*/g, '\n *')}\n`
}

/** Interfaces and type aliases as they are written; those that follow from a schema as what they come to. */
function typeText(symbol: ts.Symbol, declaration: ts.Declaration, name: string, names: PublicNames): string {
  if (ts.isTypeAliasDeclaration(declaration) && /^z\.infer<typeof \w+>$/.test(declaration.type.getText()))
    return recordFields(names.checker.getDeclaredTypeOfSymbol(symbol), name, names)
  return publicText(declaration, names).replace(/^export /, '')
}

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ')
