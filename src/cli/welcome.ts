import { builtinGrammars, exampleChains, renderSpans } from '../language/grammar/index.ts'
import { nextLines } from './next.ts'
import { paintKind } from './paint.ts'

/** What `coa` prints without a command: what it makes, by an example, and what to do first. */
export function welcome(): string {
  const { question, steps } = exampleChains.get('math')!
  const chain = renderSpans(builtinGrammars.get('math')!, steps)
  const [title, ...commands] = nextLines([
    ['quickstart', '--fast'],
    ['init', 'my-agents'],
    ['doctor'],
    ['--help'],
  ])
  const comments = [
    'all stages on this machine, in a minute or two; no API key, no GPU',
    'a project for your own tasks, tools and team',
    'what works on this machine',
    'all commands',
  ]
  const width = Math.max(...commands.map((line) => line.length))
  return [
    'coa turns a multi-agent system into one model: a team of agents solves tasks with real tools, and a model learns to do',
    'it alone, in one stream of text. A question and what such a model writes:',
    '',
    question,
    '',
    chain
      .map(({ kind, text }) => paintKind(kind, text))
      .join('')
      .trimEnd(),
    '',
    title,
    // A folder to change to may come first.
    ...commands.map((line, index) => {
      const comment = comments.at(index - commands.length)
      return comment === undefined ? line : `${line.padEnd(width)}   # ${comment}`
    }),
  ].join('\n')
}
