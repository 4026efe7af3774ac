import { readPageTool, searchTool, type Tool } from '../../tools/index.ts'
import type { WorldServer } from './serve.ts'

/** What addresses of the encyclopedia look like to agents. The port of a run must not get into what is learnt. */
const publicOrigin = 'http://encyclopedia.test'

/** Search and page reading over a served encyclopedia: real requests, under an address that is always the same. */
export function worldTools(server: WorldServer, { limit = 5 }: { limit?: number } = {}): Tool[] {
  const outside = (text: string): string => text.replaceAll(server.origin, publicOrigin)
  const search = searchTool({
    limit,
    provider: {
      name: 'the encyclopedia',
      search: async (query, limit) =>
        (await server.search(query, limit)).map((hit) => ({ ...hit, source: outside(hit.source) })),
    },
  })
  const read = readPageTool({ allowHosts: [new URL(server.origin).host] })
  const readOutside: typeof read = {
    ...read,
    async execute({ urls }, context) {
      const inside = urls.map((url) => url.replace(publicOrigin, server.origin))
      const output = await read.execute({ urls: inside }, context)
      return { ...output, text: outside(output.text) }
    },
  }
  return [search, readOutside] as Tool[]
}
