export { Automaton } from './automaton.ts'
export { builtinGrammars } from './builtin/index.ts'
export { type Block, type Chain, collectChain, isWellFormed, parseChain, type Step } from './chain.ts'
export { findProblems } from './check.ts'
export { GrammarDefinition, type GrammarInput } from './definition.ts'
export type { Diagnostic, DiagnosticCode } from './diagnostic.ts'
export { joinText, type ParseEvent, type Utterance } from './events.ts'
export { exampleChains } from './examples.ts'
export { extendGrammar, type ToolAgent } from './extend-grammar.ts'
export { type Agent, defineGrammar, type Grammar, type Prelude } from './grammar.ts'
export { loadGrammar, readDefinition } from './load.ts'
export { ChainParser, type ParserOptions } from './parser.ts'
export { parsePayload, renderPayload } from './payload/payload.ts'
export type { Payload } from './payload/types.ts'
export {
  assertGrammars,
  givesWay,
  knownGrammars,
  type Language,
  projectGrammar,
  projectGrammars,
} from './project-grammars.ts'
export { buildPrompt, systemPrompt } from './prompt.ts'
export { reactGrammar } from './react.ts'
export { render, renderSpans, renderStep, STRAY, spansOf } from './spans.ts'
export { type Validation, type Violation, validate } from './validate.ts'
