import { type PublicName, type Surface, valuesOf } from './read-surface.ts'

const NOTE = '<!-- Made from the sources by `npm run reference`; do not edit. -->'

/** The reference page of an entry point: groups in the order of its file, in each the values and then the types. */
export function pageOf(surface: Surface, all: readonly Surface[]): string {
  const groups = [...Map.groupBy(inFileOrder(surface), ({ group }) => group)]
  const others = all
    .map(({ name, page }) => (page === surface.page ? `\`${name}\`` : `[\`${name}\`](${page}.md)`))
    .join(' · ')
  return [
    NOTE,
    `# ${surface.name}`,
    others,
    surface.description,
    ...contents(surface.name, groups),
    ...groups.flatMap(([group, names]) => sectionOf(group, names)),
  ]
    .join('\n\n')
    .concat('\n')
}

/** Every name of the package, by entry point: the file that is reviewed when the surface changes. */
export function listOf(all: readonly Surface[]): string {
  const total = all.reduce((sum, surface) => sum + valuesOf(surface).length, 0)
  const blocks = all.map((surface) => {
    const values = valuesOf(surface).map(({ name, kind }) => `  ${name} (${kind})`)
    const types = surface.names.filter(({ kind }) => kind === 'type').map(({ name }) => `  ${name}`)
    return [`${surface.name}: ${values.length} values`, ...values, `${surface.name}: types`, ...types].join(
      '\n',
    )
  })
  return `${total} values in all\n\n${blocks.join('\n\n')}\n`
}

/** Groups keep the order of the entry file, which names are sorted out of. */
function inFileOrder({ names, groups }: Surface): PublicName[] {
  return groups.flatMap((group) => names.filter((each) => each.group === group))
}

/** A line of links for each group. Of headings that differ only in case, all but the first get a number, as on GitHub. */
function contents(title: string, groups: readonly [string, PublicName[]][]): string[] {
  const seen = new Map<string, number>()
  const anchor = (heading: string): string => {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-')
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    return times === 0 ? slug : `${slug}-${times}`
  }
  anchor(title)
  return groups.map(([group, names]) => {
    const section = anchor(group)
    const links = names.filter(({ kind }) => kind !== 'type').map(({ name }) => `[${name}](#${anchor(name)})`)
    return `**[${group}](#${section})**: ${links.join(', ')}`
  })
}

function sectionOf(group: string, names: readonly PublicName[]): string[] {
  const types = names.filter(({ kind }) => kind === 'type').map(({ declaration }) => declaration)
  return [
    `## ${group}`,
    ...names.filter(({ kind }) => kind !== 'type').flatMap(partsOf),
    ...(types.length === 0 ? [] : [`### Types: ${group.toLowerCase()}`, code(types.join('\n\n'))]),
  ]
}

function partsOf({ name, description, declaration, examples }: PublicName): string[] {
  return [`### ${name}`, description, code(declaration), ...examples.map(code)].filter((part) => part !== '')
}

const code = (text: string): string => `\`\`\`ts\n${text}\n\`\`\``
