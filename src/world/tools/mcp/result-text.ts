import type { CallToolResult } from '@modelcontextprotocol/client'

type Block = CallToolResult['content'][number]

/** A result as text for the model: texts verbatim, everything else as a line that says what it is. */
export function resultText({ content, structuredContent }: CallToolResult): string {
  const text = content.map(blockText).join('\n').trim()
  if (text !== '') return text
  return structuredContent === undefined ? 'The tool returned nothing.' : JSON.stringify(structuredContent)
}

function blockText(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type}: ${block.mimeType}, ${size(block.data)}]`
    case 'resource_link': {
      const about = block.description === undefined ? '' : `: ${block.description}`
      return `${block.title ?? block.name} (${block.uri})${about}`
    }
    case 'resource': {
      const { resource } = block
      return 'text' in resource
        ? `${resource.uri}\n${resource.text}`
        : `[resource: ${resource.uri}, ${resource.mimeType ?? 'unknown kind'}, ${size(resource.blob)}]`
    }
    default:
      return `[${(block as { type: string }).type}]`
  }
}

/** Size of base64 data. */
function size(base64: string): string {
  return `${Math.max(1, Math.round((base64.length * 3) / 4 / 1000))} kB`
}
