import { builtinGrammars, extendGrammar, type Grammar, type ToolAgent } from '../language/grammar/index.ts'

/** A tool that takes JSON, as the settings would add it: none that comes with coa does. */
const visualInspector: ToolAgent = {
  name: 'visual_inspector',
  description: 'Look at an image file. Say which file and, if you like, what you want to know about it.',
  payload: {
    syntax: 'json',
    schema: {
      type: 'object',
      properties: { file_path: { type: 'string' }, question: { type: 'string' } },
      required: ['file_path'],
      additionalProperties: false,
    },
  },
}

/** All tools that come with coa, and that one. */
export const withVisualInspector: Grammar = extendGrammar(builtinGrammars.get('all-tools')!, [
  visualInspector,
])

/** The grammars that come with coa, one of them with that tool: every kind of payload is among them. */
export const grammarsWithEveryPayload: readonly Grammar[] = [...builtinGrammars.values()].map((grammar) =>
  grammar.name === withVisualInspector.name ? withVisualInspector : grammar,
)
