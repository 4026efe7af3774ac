import type { Command } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import {
  exampleChains,
  type Grammar,
  loadGrammar,
  renderSpans,
  systemPrompt,
} from '../../language/grammar/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { emit, table } from '../output.ts'
import { paintKind } from '../paint.ts'

export function registerGrammarShow(parent: Command): void {
  parent
    .command('show')
    .argument('<grammar>', 'name, or path of a .toml or .ts file')
    .description('show the agents of a grammar, their tags, and who may follow whom')
    .option('--prompt', 'print its system prompt')
    .option('--example', 'print an example chain (built-in grammars only)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa grammar show web\n  $ coa grammar show my-grammar.toml --prompt',
    )
    .action(async (name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { prompt?: boolean; example?: boolean }>()
      const grammar = await loadGrammar(name)
      const prompt = systemPrompt(grammar)
      if (options.prompt) emit(options, { name: grammar.name, prompt }, () => prompt)
      else if (options.example) showExample(options, grammar)
      else emit(options, { ...grammar.definition, prompt }, () => describe(grammar))
    })
}

function showExample(options: GlobalOptions, grammar: Grammar): void {
  const example = exampleChains.get(grammar.name)
  if (example === undefined) {
    throw new UsageError(`grammar "${grammar.name}" has no example`, {
      fix: 'Only the built-in grammars have examples; see `coa grammar list`.',
    })
  }
  const spans = renderSpans(grammar, example.steps)
  emit(options, { question: example.question, spans }, () =>
    spans.map((span) => paintKind(span.kind, span.text)).join(''),
  )
}

function describe(grammar: Grammar): string {
  const agents = [...grammar.agents.values()].map((agent) => [
    paintKind(agent.kind === 'tool' ? 'call' : agent.kind, `<${agent.tag}>`),
    agent.kind,
    agent.payload.syntax,
    agent.next.join(' ') || pc.dim('–'),
  ])
  const { prelude } = grammar
  return [
    `${pc.bold(grammar.name)}: ${grammar.description}`,
    '',
    table([['tag', 'kind', 'payload', 'next'].map(pc.dim), ...agents]),
    '',
    `starts with  ${grammar.start.join(' or ')}`,
    ...(prelude === null
      ? []
      : [
          `prelude      ${prelude.agent}, ${prelude.required ? 'required' : 'optional'} before ${[...prelude.before].join(', ')}`,
        ]),
    ...(grammar.observation === null
      ? []
      : [`after a tool <${grammar.observation.tag}>, written by the runtime and never trained on`]),
    `ends with    ${grammar.answer.name}`,
  ].join('\n')
}
