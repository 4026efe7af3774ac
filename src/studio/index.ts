/** `coa studio`: a local web app over the runs of a project. */
export type * from './api.ts'
export { type Studio, type StudioParts, startStudio } from './start-studio.ts'
