import type { Json, LoggedItem } from './contract.ts'
import { asText, at, isObject, listOf, parsedOr, textOf, timeOf } from './json.ts'
import { isCode } from './tool-names.ts'

/** A task that an agent gave to another, whose steps were logged apart. */
export interface Delegation {
  /** As the other agent was asked; it contains the words of the one that called. */
  task: string
  agent: string
  answer: string
  calls: readonly { tool: string; input: Json; output: string }[]
}

/** A step of an agent's memory in smolagents or OAgents. Steps have no type; their fields tell them apart. */
export const isActionStep = (step: unknown): boolean =>
  isObject(step) &&
  'step_number' in step &&
  ['model_output', 'observations', 'tool_calls', 'code_action'].some((key) => key in step)

export const isStep = (step: unknown): boolean =>
  isActionStep(step) || ['task', 'plan', 'system_prompt'].some((key) => typeof at(step, key) === 'string')

/** What happened in an agent's steps. `output` is the answer of the last one that has any. */
export function itemsOfSteps(
  steps: readonly unknown[],
  agent: string,
  delegations: readonly Delegation[] = [],
): { items: LoggedItem[]; output?: string } {
  const delegated = delegationsByStep(steps, delegations)
  const items: LoggedItem[] = []
  let output: string | undefined
  for (const [index, step] of steps.entries()) {
    const read = itemsOfStep(step, index, agent, delegated.get(index) ?? [])
    const time = timeOf(at(step, 'timing', 'start_time') ?? at(step, 'start_time'))
    items.push(...read.items.map((item) => (time === undefined ? item : { ...item, at: time })))
    output = read.output ?? output
  }
  // Events of steps with and without times cannot be compared.
  const isTimed = items.every((item) => item.at !== undefined)
  return {
    items: isTimed ? items : items.map(({ at: _, ...item }) => item),
    ...(output === undefined ? {} : { output }),
  }
}

interface ReadStep {
  items: LoggedItem[]
  output?: string
}

function itemsOfStep(
  step: unknown,
  index: number,
  agent: string,
  delegated: readonly Delegation[],
): ReadStep {
  const prompt = textOf(at(step, 'task')) ?? textOf(at(step, 'system_prompt'))
  if (prompt !== undefined && !isActionStep(step)) {
    const role = at(step, 'task') === undefined ? 'system' : 'user'
    return { items: [{ type: 'prompted', agent, messages: [{ role, content: prompt }] }] }
  }
  const plan = textOf(at(step, 'plan'))
  if (plan !== undefined) {
    const facts = textOf(at(step, 'facts'))
    const text = facts === undefined ? plan : `${facts}\n\n${plan}`
    const thought = facts === undefined ? {} : { thought: withoutFrame(facts) }
    return {
      items: [{ type: 'wrote', agent, text, ...thought, said: { as: 'plan', text: withoutFrame(plan) } }],
    }
  }
  return action(step, index, agent, delegated)
}

/** Plans are stored as they are shown to the model: a sentence, then the plan in a fence. */
function withoutFrame(text: string): string {
  const shown = text.trim()
  const start = shown.lastIndexOf('\n```\n', shown.length - 4)
  const isFramed = /^(?:Here (?:is|are)|I still need) /.test(shown) && shown.endsWith('```') && start >= 0
  return isFramed ? shown.slice(start + 5, -3).trim() : shown
}

function action(step: unknown, index: number, agent: string, delegated: readonly Delegation[]): ReadStep {
  const written = textOf(at(step, 'model_output')) ?? asText(at(step, 'model_output_message', 'content'))
  const calls = listOf(at(step, 'tool_calls')).map(callOf)
  const ending = calls.find(({ tool }) => tool === 'final_answer')
  const made = calls.filter((call) => call !== ending && !isOnlyFinalAnswer(call.input))
  const isFinal = ending !== undefined || at(step, 'is_final_answer') === true
  const thought = thoughtOf(
    written,
    calls.map(({ input }) => asText(input)),
  )
  const items: LoggedItem[] = []
  const failure = at(step, 'error', 'message')
  const problem = failure === undefined ? textOf(at(step, 'error')) : asText(failure)
  if (delegated.length > 0) {
    items.push({ type: 'wrote', agent, text: written, thought, said: { as: 'task', text: '' } })
    for (const [number, one] of delegated.entries())
      items.push(...itemsOfDelegation(one, `${index}.${number}`))
  } else {
    if (written !== '' || made.length > 0)
      items.push({ type: 'wrote', agent, text: written, thought, said: { as: 'call', text: '' } })
    items.push(
      ...made.map(
        ({ tool, input }, at): LoggedItem => ({ type: 'called', agent, tool, input, call: `${index}/${at}` }),
      ),
    )
    items.push(...resultsOf(step, made.length, problem, agent, index))
  }
  if (problem !== undefined && made.length === 0) items.push({ type: 'failed', agent, message: problem })
  const opinion = textOf(at(step, 'evaluate_thought'))
  if (opinion !== undefined && opinion.trim() !== '')
    items.push({ type: 'wrote', agent, text: opinion, said: { as: 'reflection', text: opinion } })
  const answer =
    ending === undefined ? at(step, 'action_output') : (at(ending.input, 'answer') ?? ending.input)
  return isFinal && answer !== undefined && answer !== null ? { items, output: asText(answer) } : { items }
}

function callOf(call: unknown): { tool: string; input: Json } {
  const tool = asText(at(call, 'function', 'name') ?? at(call, 'name'))
  const input = at(call, 'function', 'arguments') ?? at(call, 'arguments')
  return { tool, input: isCode(tool) && typeof input === 'string' ? input : parsedOr(input) }
}

/** `final_answer(x)` as a program runs nothing; the answer is logged apart. */
const isOnlyFinalAnswer = (input: Json): boolean =>
  typeof input === 'string' && /^\s{0,20}final_answer\([^\n]{0,20000}\)\s{0,20}$/.test(input)

/** The observations of all calls of a step are one text, in which each result is a line or the last one is all there is. */
function resultsOf(
  step: unknown,
  calls: number,
  problem: string | undefined,
  agent: string,
  index: number,
): LoggedItem[] {
  const observed = asText(at(step, 'observations')).trimEnd()
  const text = [observed, problem ?? ''].filter((part) => part !== '').join('\n')
  if (calls === 0 || (text === '' && at(step, 'observations') === undefined)) return []
  const lines = text.split('\n')
  const outputs = lines.length === calls ? lines : [text]
  const first = calls - outputs.length
  return outputs.map((output, number) => ({
    type: 'returned',
    agent,
    output,
    call: `${index}/${first + number}`,
    ok: problem === undefined,
  }))
}

function itemsOfDelegation({ task, agent, answer, calls }: Delegation, prefix: string): LoggedItem[] {
  return [
    { type: 'prompted', agent, messages: [{ role: 'user', content: task }] },
    ...calls.flatMap(({ tool, input, output }, number): LoggedItem[] => [
      { type: 'wrote', agent, text: '', said: { as: 'call', text: '' } },
      { type: 'called', agent, tool, input, call: `${prefix}/${number}` },
      { type: 'returned', agent, output, call: `${prefix}/${number}` },
    ]),
    { type: 'wrote', agent, text: answer, said: { as: 'report', text: answer } },
  ]
}

/** What a model wrote before its program or call. */
function thoughtOf(written: string, inputs: readonly string[]): string {
  let text = written
  for (const input of inputs) if (input !== '') text = text.replace(input.trim(), () => '')
  return text
    .replace(/(?:Calling tools:|Action:)\s{0,20}[[{][\s\S]*$/, '')
    .replace(/<\/?(?:end_)?code>/g, '')
    .replace(/^```\w{0,20}[ \t]*$|^(?:Code|Thought):/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** By the words of the task in the call, then in the order of the calls of that agent. */
function delegationsByStep(
  steps: readonly unknown[],
  delegations: readonly Delegation[],
): Map<number, readonly Delegation[]> {
  const found = new Map<number, Delegation[]>()
  const add = (index: number, one: Delegation): void => {
    found.set(index, [...(found.get(index) ?? []), one])
  }
  const called = steps.map((step) => asText(at(step, 'tool_calls')))
  const rest = delegations.filter((one) => {
    const index = called.findIndex(
      (text) =>
        text.includes(one.agent) &&
        quotesIn(text).some((quote) => quote !== one.agent && one.task.includes(quote)),
    )
    if (index >= 0) add(index, one)
    return index < 0
  })
  const open = called.flatMap((text, index) =>
    !found.has(index) && rest.some((one) => text.includes(one.agent)) ? [index] : [],
  )
  for (const [number, one] of rest.entries()) {
    const index = open[number] ?? open.at(-1) ?? steps.length - 1
    if (index >= 0) add(index, one)
  }
  return found
}

/** The texts in a call, as they stand in a program or in arguments. */
const quotesIn = (text: string): string[] =>
  [...text.matchAll(/"{1,3}([^"\\\n]{12,2000})|'([^'\\\n]{12,2000})/g)].map((match) =>
    (match[1] ?? match[2] ?? '').replace(/\\+$/, ''),
  )
