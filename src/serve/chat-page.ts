import { readFileSync } from 'node:fs'
import type { Grammar } from '../language/grammar/index.ts'
import { exampleChains } from '../language/grammar/index.ts'
import type { Task } from '../schema/index.ts'
import { suites } from '../tasks/index.ts'
import { ApiError } from './api-error.ts'
import type { Route } from './route.ts'

const scripts = ['page', 'api', 'chain-view', 'elements', 'history', 'result-view', 'snippets']
/** Everything the page consists of: nothing else in the folder is served. */
const files = new Map<string, readonly [file: string, type: string]>([
  ['/', ['index.html', 'text/html']],
  ['/chat/style.css', ['style.css', 'text/css']],
  ...scripts.map((name) => [`/chat/${name}.js`, [`${name}.js`, 'text/javascript']] as const),
])

/** The page may load what this server sends, and nothing else; and no other page may show it. */
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
}

/** The chat page. It has no secrets: what it does needs a key, if the API does. */
export function chatPageRoutes(): Route[] {
  return [...files].map(([path, [file, type]]) => ({
    method: 'GET',
    path: new RegExp(`^${path.replaceAll('.', String.raw`\.`)}$`),
    endpoint: 'page',
    open: true,
    handle: ({ incoming, outgoing }) => {
      if (path === '/' && incoming.headers.accept?.includes('text/html') !== true)
        throw new ApiError(404, 'there is a page here for browsers; programs use /v1/chat/completions', {
          code: 'unknown_url',
        })
      const content = readFileSync(new URL(`../../chat/${file}`, import.meta.url))
      outgoing.writeHead(200, { 'content-type': `${type}; charset=utf-8`, ...headers }).end(content)
    },
  }))
}

const GENERATED = 12
const SHOWN = 3

/** Questions to begin with, in the style that the grammar is for: short ones, so that they can be read at a glance. */
export function exampleQuestions({ name }: Pick<Grammar, 'name'>, meta: Task['meta']): string[] {
  const shown = exampleChains.get(name)
  const generated = [...suites.values()]
    .filter(({ domain }) => domain === name)
    .flatMap((suite) =>
      Array.from({ length: GENERATED }, (_, index) => suite.generate({ seed: 1, split: 'train', index })),
    )
    // Questions about a fictional world can only be answered in it.
    .filter((task) => task.meta['world'] === undefined || task.meta['world'] === meta['world'])
    .map(({ question }) => question)
    .sort((one, other) => one.length - other.length)
  return [...(shown === undefined ? [] : [shown.question]), ...generated.slice(0, SHOWN)]
}
