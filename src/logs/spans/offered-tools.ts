import type { LoggedTool } from '../contract.ts'
import { at, isObject, listOf, parsedOr } from '../json.ts'
import { toolsOf } from '../record-head.ts'

/** The tools a model was offered: a list of definitions in any dialect, also as JSON at every level. */
export function offeredTools(value: unknown): LoggedTool[] {
  return listOf(parsedOr(value ?? null)).flatMap((one) => {
    const tool = parsedOr(one)
    const declared = at(tool, 'function_declarations') ?? at(tool, 'functionDeclarations')
    if (Array.isArray(declared)) return offeredTools(declared)
    // OpenInference has the definition as JSON under `tool.json_schema`.
    const schema = at(tool, 'tool', 'json_schema') ?? at(tool, 'json_schema')
    if (schema !== undefined) return offeredTools([schema])
    if (!isObject(tool)) return []
    const parameters = tool['parameters'] ?? tool['inputSchema'] ?? tool['input_schema']
    return toolsOf([{ ...tool, ...(parameters === undefined ? {} : { parameters: parsedOr(parameters) }) }])
  })
}
