/** Numbers and texts as people and pages see them. Uses no Node built-ins. */
export { escapeHtml } from './escape-html.ts'
export { percent, whole } from './numbers.ts'
