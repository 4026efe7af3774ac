import {
  builtinGrammars,
  extendGrammar,
  type Grammar,
  type ToolAgent,
} from '../../src/language/grammar/index.ts'

/** A tool with a JSON payload, as settings would add it: no built-in tool has one. */
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

/** The grammar with all built-in tools plus this one. */
export const withVisualInspector: Grammar = extendGrammar(builtinGrammars.get('all-tools')!, [
  visualInspector,
])

/** The built-in grammars, two of them extended by this tool, so that every payload syntax is covered and all have tools. */
export const grammarsWithEveryPayload: readonly Grammar[] = [...builtinGrammars.values()].map((grammar) =>
  grammar.name === withVisualInspector.name || grammar.observation === null
    ? extendGrammar(grammar, [visualInspector])
    : grammar,
)
