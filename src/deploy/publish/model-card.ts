import { markdownTable, percent } from '../../base/text/index.ts'
import type { ModelReport } from '../../engine/index.ts'
import type { Grammar } from '../../language/grammar/index.ts'
import type { EvalReport } from '../../schema/index.ts'
import { frontMatter } from './front-matter.ts'
import type { BaseModel } from './lineage.ts'

export interface ModelCardParts {
  /** The repository, or a name if there is none yet. */
  name: string
  report: ModelReport
  grammar: Grammar
  base: BaseModel | undefined
  license: string
  /** The dataset's repository, if it is published. */
  dataset: string | undefined
  /** Counts of what the run trained on. */
  data: [name: string, value: string][]
  /** Settings of the training stages, by section. */
  settings: [section: string, settings: [string, string][]][]
  evaluation: { report: EvalReport; solver: string } | undefined
  /** Version of coa. */
  version: string
}

/** README.md of a model on the Hub. It says nothing that the run does not contain. */
export function modelCard(parts: ModelCardParts): string {
  const { name, report, grammar, base, evaluation } = parts
  const { shape, manifest } = report
  const tools = [...grammar.agents.values()].filter(({ kind }) => kind === 'tool').map(({ tag }) => tag)
  const sections = [
    metadata(parts),
    `# ${name}`,
    `A chain-of-agents model with ${(report.parameters / 1e6).toFixed(1)} million parameters (${shape.family}, context ${shape.contextLength.toLocaleString('en')} tokens). It plays all agents of a team in one stream of text${tools.length === 0 ? '' : ` and calls tools by writing their tags: ${tools.map((tag) => `\`<${tag}>\``).join(', ')}`}. Grammar: \`${grammar.name}\`. Trained with [chain-of-agents](https://www.npmjs.com/package/chain-of-agents) ${parts.version}.`,
    `## Use it\n\`\`\`sh\nnpm install chain-of-agents\nnpx coa model pull ${name} model\nnpx coa solve "QUESTION" --model model --grammar ${grammar.name}\nnpx coa deploy transformers model --grammar ${grammar.name}   # or ollama, llama-server, vllm, sglang, browser\n\`\`\`\n\`coa.json\` has what other programs need: the text around a question, the tags and the stop strings. When the model closes a tool's tag, run the tool, append its output as \`<observation>…</observation>\` and let the model continue the same text.`,
    `## Training\n${markdownTable(
      ['', ''],
      [
        [
          'base model',
          base === undefined
            ? 'unknown'
            : base.id === undefined
              ? base.name
              : `[${base.id}](https://huggingface.co/${base.id})`,
        ],
        ['stage', manifest === undefined ? 'unknown' : `${manifest.stage}, step ${manifest.step}`],
        ...parts.data,
        ...(parts.dataset === undefined
          ? []
          : [['data', `[${parts.dataset}](https://huggingface.co/datasets/${parts.dataset})`]]),
        ...(manifest === undefined ? [] : [['fingerprint', `\`${manifest.fingerprint.slice(0, 16)}\``]]),
      ],
    )}`,
    ...parts.settings.map(
      ([section, settings]) =>
        `### Settings of \`${section}\`\n${markdownTable(['setting', 'value'], settings)}`,
    ),
    evaluation === undefined
      ? '## Results\nThe run has no evaluation.'
      : results(evaluation.report, evaluation.solver),
    `## Limitations\n${limitations(parts, tools)
      .map((line) => `- ${line}`)
      .join('\n')}`,
    `## License\n${parts.license}`,
  ]
  return `${sections.join('\n\n')}\n`
}

function metadata({ license, base, dataset, evaluation, name }: ModelCardParts): string {
  const solver = evaluation?.report.solvers.find((each) => each.name === evaluation.solver)
  return frontMatter({
    license,
    language: ['en'],
    library_name: 'transformers',
    pipeline_tag: 'text-generation',
    base_model: base?.id,
    datasets: dataset === undefined ? undefined : [dataset],
    tags: ['chain-of-agents', 'agent', 'tool-use', 'coa'],
    'model-index':
      solver === undefined || evaluation === undefined
        ? undefined
        : [
            {
              name,
              results: evaluation.report.suites.map(({ suite, tasks }) => {
                const { value, low, high } =
                  solver.by.find((group) => group.field === 'suite' && group.value === suite)?.strict ??
                  solver.accuracy.strict
                return {
                  task: { type: 'text-generation', name: 'Question answering with tools' },
                  dataset: { type: `coa-${suite}`, name: `coa ${suite}`, split: 'test' },
                  metrics: [
                    {
                      type: 'accuracy',
                      value: Number((100 * value).toFixed(2)),
                      name: `accuracy in %, ${tasks} tasks, 95% interval ${percent(low)} to ${percent(high)}`,
                    },
                  ],
                }
              }),
            },
          ],
  })
}

function results({ suites, solvers }: EvalReport, own: string): string {
  const rows = solvers.map(({ name, accuracy: { strict }, tokens, calls, counts }) => [
    name === own ? `**${name}** (this model)` : name,
    `${percent(strict.value)} [${percent(strict.low)}, ${percent(strict.high)}]`,
    `${counts.correct} of ${counts.attempts}`,
    Math.round(tokens.once.value).toLocaleString('en'),
    calls.value.toFixed(1),
  ])
  return `## Results\n${suites.map(({ suite, tasks }) => `${tasks} held-out tasks of \`${suite}\``).join(', ')}; accuracy over all attempts with its 95% interval, and means per attempt.\n\n${markdownTable(
    ['solver', 'accuracy', 'correct', 'tokens', 'tool calls'],
    rows,
  )}`
}

function limitations({ evaluation, report }: ModelCardParts, tools: readonly string[]): string[] {
  return [
    ...(tools.length === 0
      ? []
      : [
          'Without a client that runs its tools, a chain ends at the first call. Chat programs do not run them.',
        ]),
    ...(tools.includes('code')
      ? [
          'It writes programs that a client runs: run them in a sandbox. They can be wrong, and text from outside can influence them.',
        ]
      : []),
    evaluation === undefined
      ? 'It has not been evaluated.'
      : `It has been evaluated only on ${evaluation.report.suites.map(({ suite }) => `\`${suite}\``).join(', ')}; other questions may be answered much worse.`,
    ...(report.parameters < 50e6
      ? ['It is very small: it knows the vocabulary of its training data and little else.']
      : []),
    'Answers can be wrong even if the chain looks right.',
  ]
}
