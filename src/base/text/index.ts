/** Formatting of numbers and text for display. Uses no Node built-ins. */
export { escapeHtml } from './escape-html.ts'
export { percent, whole } from './numbers.ts'
export { htmlPage } from './page.ts'
export { htmlTable, markdownTable } from './tables.ts'
