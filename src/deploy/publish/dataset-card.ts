import { markdownTable } from '../../base/text/index.ts'
import type { FormatSummary } from '../../stages/export/index.ts'
import { frontMatter } from './front-matter.ts'

export interface DatasetCardParts {
  name: string
  model: string
  license: string
  grammar: string
  summary: FormatSummary
  version: string
}

/** README.md of a dataset on the Hub: the sequences that a model was trained on. */
export function datasetCard({ name, model, license, grammar, summary, version }: DatasetCardParts): string {
  const { counts, differences } = summary
  const sections = [
    frontMatter({
      license,
      language: ['en'],
      task_categories: ['text-generation'],
      size_categories: [sizeCategory(counts.rows)],
      tags: ['chain-of-agents', 'agent', 'tool-use', 'coa'],
      configs: [
        { config_name: 'sequences', data_files: [{ split: 'train', path: 'data.jsonl' }], default: true },
      ],
    }),
    `# ${name}`,
    `The chain-of-agents sequences that \`${model}\` was trained on: runs of a team of agents, each distilled into one stream that a single model can write. Grammar: \`${grammar}\`. Made with [chain-of-agents](https://www.npmjs.com/package/chain-of-agents) ${version}.`,
    `## Contents\n${markdownTable(
      ['', ''],
      [
        ['sequences', String(counts.sequences)],
        ['rows', String(counts.rows)],
        ['left out', String(counts.leftOut)],
        ['characters trained on', String(counts.characters.trained)],
        ['characters of tool output, which are masked', String(counts.characters.masked)],
      ],
    )}\n\nEach row has an \`id\`, a \`prompt\` and a \`completion\`, both as messages. Tool output is in the user messages of the completion, and is not trained on; a sequence of weight n has n rows.`,
    ...(differences.length === 0 ? [] : [`## Notes\n${differences.map((line) => `- ${line}`).join('\n')}`]),
    `## License\n${license}`,
  ]
  return `${sections.join('\n\n')}\n`
}

function sizeCategory(rows: number): string {
  if (rows < 1_000) return 'n<1K'
  if (rows < 10_000) return '1K<n<10K'
  if (rows < 100_000) return '10K<n<100K'
  return rows < 1_000_000 ? '100K<n<1M' : '1M<n<10M'
}
