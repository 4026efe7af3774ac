import { markdownTable } from '../../base/text/index.ts'
import type { Tokenizer } from '../../language/tokens/index.ts'
import type { Format } from './format.ts'
import type { ExportManifest } from './manifest.ts'
import type { Sources } from './sources.ts'

export interface CardParts {
  format: Format
  manifest: ExportManifest
  sources: Sources
  /** The filter's funnel, if any. */
  funnel: string | undefined
  tokenizer: Tokenizer
  /** How the tokenizer's chat template affects this format. */
  notes: readonly string[]
}

/** README.md of an exported folder: what it is, how to train on it, where it comes from. */
export function datasetCard({ format, manifest, sources, funnel, tokenizer, notes }: CardParts): string {
  const { counts, source, settings } = manifest
  const isTasks = format.carries === 'tasks'
  const sections = [
    `# ${format.title}`,
    `${counts.sequences} ${isTasks ? 'tasks' : 'chain-of-agents sequences'} in ${counts.rows} rows, exported by \`coa export --format ${format.name}\` from run \`${source.run}\`${
      source.selection === 'filter' ? ', as kept by its filter' : ''
    }.`,
    `## How to train on it\n${format.guide}`,
    `## What is trained on\n${format.rule}`,
    list('Differences from the sequences', [...format.differences, ...notes, ...warnings(manifest, format)]),
    `## Counts\n${countsTable(manifest, tokenizer, isTasks)}`,
    leftOutSection(manifest),
    sourcesSection(sources),
    funnel === undefined ? '' : `## Funnel of the filter\n\`\`\`json\n${funnel.trim()}\n\`\`\``,
    `## Files\n${markdownTable(
      ['file', 'rows', 'bytes', 'sha256'],
      manifest.files.map(({ name, rows, bytes, sha256 }) => [name, `${rows}`, `${bytes}`, `\`${sha256}\``]),
    )}`,
    `## Settings\n${markdownTable(
      ['setting', 'value'],
      [
        ['tokenizer', settings.tokenizer],
        ['date for templates', settings.date],
        ['selection', source.selection],
      ],
    )}\n\n\`coa export --check\` on this folder reads the files back and compares them with the run.`,
  ]
  return `${sections.filter(Boolean).join('\n\n')}\n`
}

function warnings({ counts }: ExportManifest, format: Format): string[] {
  const found: string[] = []
  if (format.carries === 'text' && counts.controlTokens > 0)
    found.push(
      `In ${counts.controlTokens} of these sequences a control token of this tokenizer is written as text.`,
    )
  if (format.name === 'openai' && counts.rows < 10) found.push('Fewer than the required ten examples.')
  return found
}

function countsTable({ counts }: ExportManifest, tokenizer: Tokenizer, isTasks: boolean): string {
  const rows = [
    [isTasks ? 'tasks' : 'sequences', String(counts.sequences)],
    ['rows', String(counts.rows)],
    ['left out', String(counts.leftOut)],
  ]
  const heads = ['', 'count']
  if (isTasks) return markdownTable(heads, rows)
  const { model, vocabularySize } = tokenizer.describe()
  const { tokens, characters } = counts
  return markdownTable(heads, [
    ...rows,
    ['tokens trained on', String(tokens.trained)],
    ['tokens masked', String(tokens.masked)],
    ['tokens of prompts', String(tokens.prompt)],
    ['characters trained on', String(characters.trained)],
    ['characters masked', String(characters.masked)],
  ]).concat(`\n\nTokens of all rows, by coa's mask (${model}, ${vocabularySize} tokens).`)
}

function leftOutSection({ leftOut }: ExportManifest): string {
  const reasons = Object.entries(leftOut)
  if (reasons.length === 0) return ''
  const rows = reasons.map(([reason, { count, examples }]) => [reason, String(count), examples.join(', ')])
  return `## Left out, because the format cannot express them\n${markdownTable(['reason', 'count', 'examples'], rows)}`
}

function sourcesSection(sources: Sources): string {
  const rows = sources
    .list()
    .flatMap(({ title, values }) => values.map(([name, count]) => [title, name, String(count)]))
  return rows.length === 0 ? '' : `## Sources\n${markdownTable(['', '', 'rows'], rows)}`
}

function list(title: string, items: readonly string[]): string {
  return items.length === 0 ? '' : `## ${title}\n${items.map((item) => `- ${item}`).join('\n')}`
}
