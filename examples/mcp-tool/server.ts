/** An MCP server with one tool, as you may have it already. Started by coa, from `[tools.mcp.shop]` in coa.toml. */
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const stock = new Map([
  ['lamp', 14],
  ['chair', 3],
  ['table', 27],
  ['stool', 8],
  ['clock', 41],
  ['mirror', 19],
])

serveStdio(() => {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })
  const inputSchema = z.object({ article: z.string() })
  server.registerTool(
    'stock',
    { description: 'How many of an article are in stock.', inputSchema },
    async ({ article }) => ({
      content: [{ type: 'text', text: String(stock.get(article) ?? 'There is no such article.') }],
    }),
  )
  return server
})
