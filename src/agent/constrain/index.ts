/**
 * Constrained decoding: token masks under which what a model samples follows its grammar.
 */
export { type Constraint, createConstraint } from './constraint.ts'
export type { ConstraintState } from './constraint-state.ts'
