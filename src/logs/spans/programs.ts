import type { ChatTurn } from '../chat-turn.ts'
import { programIn } from '../executed-code.ts'
import type { SpanNode } from './span-tree.ts'

/** How smolagents reports what a program printed and returned. */
const REPORT = /^\s{0,20}Execution logs:/

/**
 * Agents whose actions are programs: the span of such a step has a model call, whose text has the program, and ends with
 * a report of its execution. The program becomes a call with the report as its result; the tools that the program itself
 * ran are part of it, and are returned so that they can be left out.
 */
export function callPrograms(models: readonly SpanNode[]): ReadonlySet<SpanNode> {
  const inside = new Set<SpanNode>()
  for (const [number, node] of models.entries()) {
    const step = node.parent
    const report = step?.answer ?? step?.span.error
    const turn = node.output?.findLast(({ role }) => role === 'assistant')
    const program = turn === undefined || turn.calls.length > 0 ? undefined : programIn(turn.text)
    if (step === undefined || report === undefined || turn === undefined || program === undefined) continue
    if (!REPORT.test(report) && step.span.error === undefined) continue
    if (step.children.filter(({ kind }) => kind === 'model').length !== 1) continue
    const id = `program ${number}`
    const called: ChatTurn = {
      ...turn,
      text: program.words.replace(/^Thought:\s*/, ''),
      calls: [{ id, tool: program.tool, input: program.code }],
    }
    const ok = step.span.error === undefined
    node.output = node.output!.map((one) => (one === turn ? called : one))
    node.program = { id, output: report, ok, end: step.end }
    for (const child of step.children) if (child.kind === 'tool') inside.add(child)
  }
  return inside
}
