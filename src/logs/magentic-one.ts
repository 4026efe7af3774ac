import type { LeftOut } from './contract.ts'
import { executionIn, nothingToRun } from './executed-code.ts'
import { parsedOr } from './json.ts'
import type { Speech } from './speeches.ts'

/** A message of a Magentic-One console log: its author, with what kind of message it is in parentheses. */
interface Labeled {
  role: string
  content: string
}

/** Agents that act and report but write nothing of their own. */
const TOOL_AGENT = /surfer|browser|terminal|executor|shell/i

/** `Orchestrator (thought)`, `Orchestrator (-> WebSurfer)`, `Orchestrator (termination condition)`. */
const LABEL = /^([\w -]{1,60}?) \((thought|-> ([\w -]{1,60})|termination condition)\)$/

export const isMagenticRole = (role: string): boolean => LABEL.test(role)

/**
 * The conversation of a Magentic-One team. Its orchestrator uses surfers as tools: an instruction to one is a call, and
 * the reply its result. Its ledger is a form of several questions, of which only the assessment and the reason for the
 * next step are thoughts.
 */
export function speechesOfMagentic(history: readonly Labeled[]): {
  speeches: Speech[]
  leftOut: LeftOut[]
  answer?: string
} {
  const speeches: Speech[] = []
  const leftOut: LeftOut[] = []
  let open: { id: string; tool: string } | undefined
  for (const [index, { role, content }] of history.entries()) {
    const [, agent = role, kind, to] = LABEL.exec(role) ?? []
    const { text, console } = withoutConsole(content)
    const leave = (reason: string, what: string): void => {
      if (what.trim() !== '') leftOut.push({ at: `history[${index}].content`, reason, text: what })
    }
    leave('printed by the framework', console)
    if (kind === 'thought') {
      const thought = thoughtOf(text)
      if (thought === undefined) leave('only says who speaks next or that the work is over', text)
      else speeches.push({ agent, text, ...thought })
    } else if (kind === 'termination condition') leave('why the work ended', text)
    else if (to !== undefined) {
      const id = `step ${index}`
      const isTool = TOOL_AGENT.test(to) && !/terminal|executor/i.test(to)
      open = isTool ? { id, tool: to } : undefined
      const call = { id, tool: to, input: text.trim() }
      speeches.push({
        agent,
        text,
        ...(isTool ? { calls: [call], said: CALL } : { said: { as: 'task', text } }),
      })
    } else if (index === 0) speeches.push({ agent, text, role: 'user' })
    else if (open !== undefined && role === open.tool) {
      speeches.push({ agent, text: '', results: [{ id: open.id, output: text.trimEnd() }] })
      open = undefined
    } else if (TOOL_AGENT.test(role) && executionIn(text) === undefined && !nothingToRun(text))
      leave('output of a tool that nobody called', text)
    else speeches.push({ agent, text })
  }
  const answer = answerIn(history.at(-1)?.content ?? '')
  return { speeches, leftOut, ...(answer === undefined ? {} : { answer }) }
}

const CALL = { as: 'call', text: '' } as const

/** Warnings, errors and the result of the script that started the team. */
const CONSOLE =
  /(?:^|\n)(?:[^\n]{0,300}UserWarning: |Error processing publish message|\s{0,4}response = await |FINAL ANSWER: )/

function withoutConsole(content: string): { text: string; console: string } {
  const start = CONSOLE.exec(content)?.index
  return start === undefined
    ? { text: content, console: '' }
    : { text: content.slice(0, start), console: content.slice(start).trim() }
}

function answerIn(content: string): string | undefined {
  const answer = /(?:^|\n)FINAL ANSWER: ([\s\S]{1,20000}?)(?=\nSCENARIO\.PY|$(?![\s\S]))/
    .exec(content)?.[1]
    ?.trim()
  return answer === '' ? undefined : answer
}

/** Undefined if it only says what the runtime does next. */
function thoughtOf(text: string): Pick<Speech, 'thought' | 'said'> | undefined {
  if (/^Updated Ledger:/.test(text)) return ledger(text)
  if (/^(?:Initial|New) plan:/.test(text)) return planIn(text)
  if (/^(?:Next speaker |Stalled\.|Replan counter |Request satisfied)/.test(text)) return undefined
  return {}
}

/** The facts and the plan in the form that the orchestrator fills in. */
export function planIn(text: string): Pick<Speech, 'thought' | 'said'> {
  const facts =
    /Here is an initial fact sheet to consider:\s{0,20}\n([\s\S]*?)(?=\nHere is the plan to follow)/.exec(
      text,
    )
  const steps = /\nHere is the plan to follow as best as possible:\s{0,20}\n([\s\S]*)$/.exec(text)
  if (steps === null) return {}
  return {
    ...(facts === null ? {} : { thought: facts[1]!.trim() }),
    said: { as: 'plan', text: steps[1]!.trim() },
  }
}

function ledger(text: string): Pick<Speech, 'thought' | 'said'> {
  // Not read as a whole, because warnings may be printed into the form.
  const reasons = ['is_request_satisfied', 'instruction_or_question'].flatMap((key) => {
    const reason = new RegExp(`"${key}":\\s{0,40}\\{\\s{0,40}"reason":\\s{0,40}("(?:[^"\\\\]|\\\\.)*")`).exec(
      text,
    )?.[1]
    const read = reason === undefined ? undefined : parsedOr(reason)
    return typeof read === 'string' ? read : []
  })
  if (reasons.length === 0) return {}
  return { thought: reasons.join('\n'), said: { as: 'report', text: '' } }
}
