/** Proposes a grammar for recorded runs. Apart from the other files, because only one command needs it. */
export { type Fit, fitGrammar } from './fit-grammar.ts'
export { fittedToml } from './fitted-toml.ts'
