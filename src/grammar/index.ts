export { Automaton } from './automaton.ts'
export { builtinGrammars } from './builtin/index.ts'
export { type Block, type Chain, collectChain, isWellFormed, parseChain, type Step } from './chain.ts'
export { findProblems } from './check.ts'
export {
  AgentDefinition,
  AgentKind,
  GrammarDefinition,
  type GrammarInput,
  PayloadDefinition,
} from './definition.ts'
export type { Diagnostic, DiagnosticCode } from './diagnostic.ts'
export { joinText, type ParseEvent, type Utterance } from './events.ts'
export { type ExampleChain, exampleChains } from './examples.ts'
export { type Agent, defineGrammar, type Grammar, type Prelude } from './grammar.ts'
export { loadGrammar, readDefinition } from './load.ts'
export { ChainParser, type ParserOptions } from './parser.ts'
export { type Payload, parsePayload, renderPayload } from './payload/payload.ts'
export { buildPrompt, systemPrompt } from './prompt.ts'
export { render, renderSpans, renderStep } from './render.ts'
export { spansOf } from './spans.ts'
export { type Validation, type Violation, validate } from './validate.ts'
