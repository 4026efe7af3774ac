/** Which sequences of a run are worth learning, how often each counts, and why the others are not. */
export { Funnel } from './funnel.ts'
export {
  disjoint,
  dropAlwaysOrNever,
  dropSolvedWithoutTools,
  type PassRate,
  type Question,
  type Sifted,
} from './query-filters.ts'
export { readFunnel } from './read-funnel.ts'
export { readScore } from './read-score.ts'
export { assertKept, type FilterContext, type FilterSummary, run } from './run.ts'
export { selectionFiles } from './selection-files.ts'
