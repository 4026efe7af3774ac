export { processExists, processRuns, processStart } from './process-identity.ts'
