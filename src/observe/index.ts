export { escapeHtml } from './escape-html.ts'
export type { Observe, Progress } from './progress.ts'
