import type { Api, ApiProblem } from '../../src/studio/api.ts'

type PathOf<Method extends string> = keyof {
  [Key in keyof Api as Key extends `${Method} ${infer Path}` ? Path : never]: true
}
export type GetPath = PathOf<'GET'>
export type PostPath = PathOf<'POST'>
type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never
/** The variable parts of a path, by name. */
export type Parts<Path extends string> = Record<NamesIn<Path>, string>

export type ReplyOf<Path extends GetPath> = Api[`GET ${Path}`] extends { reply: infer Reply } ? Reply : never
export type QueryOf<Path extends GetPath> = Api[`GET ${Path}`] extends { query: infer Query }
  ? Query
  : Record<string, never>
type PostReply<Path extends PostPath> = Api[`POST ${Path}`] extends { reply: infer Reply } ? Reply : never
type PostBody<Path extends PostPath> = Api[`POST ${Path}`] extends { body: infer Body } ? Body : never

type QueryValue = string | number | boolean | readonly string[] | undefined

/** What went wrong, in the server's words, and what to do about it. */
export class RequestProblem extends Error {
  readonly fix: string | undefined
  readonly status: number
  constructor(message: string, status: number, fix?: string) {
    super(message)
    this.status = status
    this.fix = fix
  }
}

export function addressOf(path: string, parts: object, query: object = {}): string {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent((parts as Record<string, string>)[name] ?? ''),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query) as [string, QueryValue][]) {
    if (value === undefined || value === '') continue
    search.set(name, Array.isArray(value) ? value.map(encodeURIComponent).join(',') : String(value))
  }
  const text = search.toString()
  return `.${filled}${text === '' ? '' : `?${text}`}`
}

export async function get<Path extends GetPath>(
  path: Path,
  parts: Parts<Path>,
  query?: QueryOf<Path>,
  signal?: AbortSignal,
): Promise<ReplyOf<Path>> {
  return read(await send(addressOf(path, parts, query ?? {}), signal === undefined ? {} : { signal }))
}

export async function post<Path extends PostPath>(
  path: Path,
  parts: Parts<Path>,
  body: PostBody<Path>,
): Promise<PostReply<Path>> {
  const headers = { 'content-type': 'application/json', 'x-coa': 'studio' }
  return read(await send(addressOf(path, parts), { method: 'POST', headers, body: JSON.stringify(body) }))
}

async function send(address: string, options: RequestInit): Promise<Response> {
  try {
    return await fetch(address, { credentials: 'same-origin', ...options })
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw new RequestProblem('The studio’s server does not answer.', 0, 'Start it again with: coa studio')
  }
}

async function read<Reply>(response: Response): Promise<Reply> {
  const body = (await response.json().catch(() => undefined)) as Reply | ApiProblem | undefined
  if (response.ok && body !== undefined) return body as Reply
  const { error } = (body ?? {}) as Partial<ApiProblem>
  const message = error?.message ?? `The server answered with status ${response.status}.`
  throw new RequestProblem(message, response.status, error?.fix)
}
