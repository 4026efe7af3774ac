export { backOff, pause, retryAfterMs } from './retry.ts'
