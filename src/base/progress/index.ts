export { escapeHtml } from './escape-html.ts'
export type { Observe, Progress } from './progress.ts'
export { Spotlight, type Spotted } from './spotlight.ts'
