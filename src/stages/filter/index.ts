/** Which sequences of a run are worth learning, how often each counts, and why the others are not. */
export { Funnel } from './funnel.ts'
export { readFunnel } from './read-funnel.ts'
export { readScore } from './read-score.ts'
export { type FilterContext, type FilterSummary, run } from './run.ts'
export { selectionFiles } from './selection-files.ts'
export { filter } from './stage.ts'
