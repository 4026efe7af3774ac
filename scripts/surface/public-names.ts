import ts from 'typescript'
import { root } from './entry-points.ts'

/** The names under which definitions are public, which are not always those they are defined under. */
export interface PublicNames {
  checker: ts.TypeChecker
  symbols: ReadonlyMap<ts.Symbol, string>
  /** Types that are public under a name: a field that holds one is shown by it. */
  types: ReadonlyMap<ts.Type, string>
}

export function publicNames(checker: ts.TypeChecker, specifiers: readonly ts.ExportSpecifier[]): PublicNames {
  const symbols = new Map<ts.Symbol, string>()
  const types = new Map<ts.Type, string>()
  for (const { name } of specifiers) {
    const symbol = checker.getAliasedSymbol(checker.getSymbolAtLocation(name)!)
    symbols.set(symbol, name.text)
    const type = checker.getDeclaredTypeOfSymbol(symbol)
    // Names of plain strings and the like would be found everywhere.
    if (symbol.flags & ts.SymbolFlags.TypeAlias && (type.isUnion() || type.getProperties().length > 0))
      types.set(type, name.text)
  }
  return { checker, symbols, types }
}

/** Types of this package that a node mentions and that cannot be imported. */
export function unnamedTypes(node: ts.Node, { checker, symbols }: PublicNames): string[] {
  const found: string[] = []
  const visit = (each: ts.Node): void => {
    const named = ts.isTypeReferenceNode(each) ? checker.getSymbolAtLocation(each.typeName) : undefined
    const symbol = named && named.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(named) : named
    const [declaration] = symbol?.declarations ?? []
    const isOurs = declaration?.getSourceFile().fileName.startsWith(`${root}src/`) === true
    if (
      symbol !== undefined &&
      isOurs &&
      !symbols.has(symbol) &&
      !ts.isTypeParameterDeclaration(declaration!)
    )
      found.push(symbol.name)
    ts.forEachChild(each, visit)
  }
  visit(node)
  return found
}

/** The text of a node, with the public name of whatever it mentions. */
export function publicText(node: ts.Node, { checker, symbols }: PublicNames): string {
  const replaced: { start: number; end: number; by: string }[] = []
  const visit = (each: ts.Node): void => {
    if (ts.isIdentifier(each) && !isMemberName(each)) {
      const by = publicName(each)
      if (by !== undefined && by !== each.text)
        replaced.push({ start: each.getStart(), end: each.getEnd(), by })
    }
    ts.forEachChild(each, visit)
  }
  const publicName = (identifier: ts.Identifier): string | undefined => {
    const symbol = checker.getSymbolAtLocation(identifier)
    if (symbol === undefined) return undefined
    return symbols.get(symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol)
  }
  visit(node)
  const text = node.getSourceFile().text
  let result = ''
  let at = node.getStart()
  for (const { start, end, by } of replaced) {
    result += text.slice(at, start) + by
    at = end
  }
  return result + text.slice(at, node.getEnd())
}

function isMemberName(identifier: ts.Identifier): boolean {
  const { parent } = identifier
  return (ts.isPropertySignature(parent) || ts.isMethodSignature(parent)) && parent.name === identifier
}
