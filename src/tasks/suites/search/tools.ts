import { ToolError } from '../../../base/errors/index.ts'
import type { TaskTools } from '../../../world/index.ts'
import type { SearchSection } from '../../../world/settings.ts'
import { readPageTool, searchTool, type Tool } from '../../../world/tools/index.ts'
import { serveWorld, type WorldServer } from './encyclopedia/serve.ts'

/** The host that agents see. The actual port must not leak into training data. */
const publicHost = 'encyclopedia.test'
const publicOrigin = `http://${publicHost}`

/** The tools of encyclopedia tasks. Each encyclopedia is served when it is first needed. */
export function openWorldTools({ search }: { search: SearchSection }): TaskTools {
  const servers = new Map<number, Promise<WorldServer>>()
  return {
    async of({ meta: { world } }) {
      if (typeof world !== 'number') return []
      const server = servers.get(world) ?? serveWorld({ seed: world })
      servers.set(world, server)
      return worldTools(await server, { limit: search.limit })
    },
    async close() {
      for (const server of servers.values()) await (await server).close()
    },
  }
}

/** Search and page reading over a served encyclopedia: real requests, but always the same visible host. */
export function worldTools(server: WorldServer, { limit = 5 }: { limit?: number } = {}): Tool[] {
  const { host } = new URL(server.origin)
  const hideHost = (text: string): string => text.replaceAll(host, publicHost)
  const search = searchTool({
    limit,
    provider: {
      name: 'the encyclopedia',
      search: async (query, limit) =>
        (await server.search(query, limit)).map((hit) => ({ ...hit, source: hideHost(hit.source) })),
    },
  })
  const read = readPageTool({ allowHosts: [host] })
  const readPublic: typeof read = {
    ...read,
    // Different encyclopedias have the same URLs, and reading is fast anyway.
    cacheable: false,
    async execute({ urls }, context) {
      const actual = urls.map((url) => url.replace(publicOrigin, server.origin))
      const output = await read.execute({ urls: actual }, context).catch((error: unknown) => {
        throw error instanceof ToolError ? withMessage(error, hideHost(error.message)) : error
      })
      return { ...output, text: hideHost(output.text) }
    },
  }
  return [search, readPublic] as Tool[]
}

function withMessage(error: ToolError, message: string): ToolError {
  const { transient, details, fix } = error
  return new ToolError(message, {
    cause: error,
    transient,
    details,
    ...(fix === undefined ? {} : { fix }),
  })
}
