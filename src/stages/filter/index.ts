/** Selects the sequences to train on, with weights, and reasons for the dropped ones. */
export { Funnel } from './funnel.ts'
export { readScore } from './read-score.ts'
export { type FilterContext, type FilterSummary, run } from './run.ts'
export { readFunnel, selectionFiles } from './selection-files.ts'
export { filter } from './stage.ts'
