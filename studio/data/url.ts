import { useCallback, useSyncExternalStore } from 'react'

/**
 * Every state of the page is in the part of the address after `#`: a path and a query, such as `#/runs/x/chains?kept=false`. So links
 * can be shared, and the server needs to know nothing about screens.
 */
export interface Place {
  path: string
  query: URLSearchParams
}

let cached: { hash: string; place: Place } | undefined

function current(): Place {
  const { hash } = location
  if (cached?.hash !== hash) {
    const [path = '', search = ''] = hash.replace(/^#/, '').split(/\?(.*)/s)
    cached = { hash, place: { path: path === '' ? '/' : path, query: new URLSearchParams(search) } }
  }
  return cached!.place
}

const listeners = new Set<() => void>()
const tell = (): void => {
  for (const listener of listeners) listener()
}
addEventListener('popstate', tell)
addEventListener('hashchange', tell)

export function usePlace(): Place {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, current)
}

type Query = Record<string, string | number | boolean | undefined>

/** A place as the value of an `href`. Parts of the path are encoded here. */
export function to(parts: readonly string[], query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value))
  const text = search.toString()
  return `#/${parts.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}

export function go(href: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', href)
  else history.pushState(null, '', href)
  tell()
}

/** Changes values in the query of this place; undefined and '' remove one. */
export function setQuery(changes: Query, { push = false } = {}): void {
  const { path, query } = current()
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '' || value === false) next.delete(name)
    else next.set(name, String(value))
  }
  const text = next.toString()
  go(`#${path}${text === '' ? '' : `?${text}`}`, { replace: !push })
}

/** A value in the query, and how to change it. */
export function useParam(name: string): [string | undefined, (value: string | undefined) => void] {
  const value = usePlace().query.get(name) ?? undefined
  const change = useCallback((next: string | undefined) => setQuery({ [name]: next }), [name])
  return [value, change]
}

export function useFlag(name: string): [boolean, () => void] {
  const [value, change] = useParam(name)
  return [value !== undefined, () => change(value === undefined ? '1' : undefined)]
}
