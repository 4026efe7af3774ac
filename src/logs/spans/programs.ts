import type { LoggedItem } from '../contract.ts'
import { type Program, programIn } from '../executed-code.ts'
import type { ToolRun } from '../tool-runs.ts'
import type { Agents } from './agents.ts'
import type { SpanNode } from './span-tree.ts'

/** How smolagents reports what a program printed and returned. */
const REPORT = /^\s{0,20}Execution logs:/

/** A program that a model wrote, with the span of the step that ran it. */
export interface StepProgram extends Program {
  id: string
  model: SpanNode
  step: SpanNode
}

/**
 * Agents whose actions are programs: the span of such a step has one model call, whose text has the program, and ends with
 * a report of its execution or an error.
 */
export function programsIn(models: readonly SpanNode[]): StepProgram[] {
  return models.flatMap((model, number): StepProgram[] => {
    const step = model.parent
    const turn = model.output?.findLast(({ role }) => role === 'assistant')
    const program = turn === undefined || turn.calls.length > 0 ? undefined : programIn(turn.text)
    if (step === undefined || program === undefined) return []
    const isRun = REPORT.test(step.answer ?? '') || step.span.error !== undefined
    const isOnly = step.children.filter(({ kind }) => kind === 'model').length === 1
    return isRun && isOnly ? [{ ...program, id: `program ${number}`, model, step }] : []
  })
}

/** Items in which each program is called by the turn that has it. */
export function withPrograms(items: readonly LoggedItem[], programs: readonly StepProgram[]): LoggedItem[] {
  return items.flatMap((item): LoggedItem[] => {
    if (item.type !== 'wrote') return [item]
    const found = programs.find(
      ({ model, code }) => model.start === item.at && programIn(item.text)?.code === code,
    )
    if (found === undefined) return [item]
    const { tool, code, words, id } = found
    const thought = [item.thought ?? '', words.replace(/^Thought:\s*/, '')].filter((text) => text !== '')
    return [
      { ...item, thought: thought.join('\n'), said: { as: 'call', text: code } },
      { type: 'called', agent: item.agent, tool, input: code, call: id, at: found.model.start },
    ]
  })
}

/** What the programs returned. */
export const runsOfPrograms = (programs: readonly StepProgram[], agents: Agents): ToolRun[] =>
  programs.map(({ tool, id, model, step }) => ({
    agent: agents.of(model),
    tool,
    call: id,
    output: step.answer ?? step.span.error ?? '',
    start: model.end,
    end: step.end,
    ...(step.span.error === undefined ? {} : { ok: false }),
  }))
