import { ToolError } from '../../../base/errors/index.ts'
import type { ProjectConfig } from '../../../settings/index.ts'
import type { TaskTools } from '../../../world/index.ts'
import { readPageTool, searchTool, type Tool } from '../../../world/tools/index.ts'
import { serveWorld, type WorldServer } from './encyclopedia/serve.ts'

/** What addresses of the encyclopedia look like to agents. The port of a run must not get into what is learnt. */
const publicHost = 'encyclopedia.test'
const publicOrigin = `http://${publicHost}`

/** The tools of tasks about an encyclopedia, which is served when it is first needed. */
export function openWorldTools({ search }: Pick<ProjectConfig, 'search'>): TaskTools {
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

/** Search and page reading over a served encyclopedia: real requests, under an address that is always the same. */
export function worldTools(server: WorldServer, { limit = 5 }: { limit?: number } = {}): Tool[] {
  const { host } = new URL(server.origin)
  const outside = (text: string): string => text.replaceAll(host, publicHost)
  const search = searchTool({
    limit,
    provider: {
      name: 'the encyclopedia',
      search: async (query, limit) =>
        (await server.search(query, limit)).map((hit) => ({ ...hit, source: outside(hit.source) })),
    },
  })
  const read = readPageTool({ allowHosts: [host] })
  const readOutside: typeof read = {
    ...read,
    // Two encyclopedias share their addresses, and reading one takes no time.
    cacheable: false,
    async execute({ urls }, context) {
      const inside = urls.map((url) => url.replace(publicOrigin, server.origin))
      const output = await read.execute({ urls: inside }, context).catch((error: unknown) => {
        throw error instanceof ToolError ? retold(error, outside) : error
      })
      return { ...output, text: outside(output.text) }
    },
  }
  return [search, readOutside] as Tool[]
}

function retold(error: ToolError, outside: (text: string) => string): ToolError {
  const { message, transient, details, fix } = error
  return new ToolError(outside(message), {
    cause: error,
    transient,
    details,
    ...(fix === undefined ? {} : { fix }),
  })
}
