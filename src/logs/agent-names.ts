import { at, textOf } from './json.ts'

/** Steps that every agent of a framework has, and parts of its machinery; their names say nothing about the agent. */
const MACHINERY =
  /^(?:__\w+__|agent|model|model_request|call_?model|llm|chat(?:bot)?|tools?|call_?tools?|tool_?node|action|prompt|LangGraph|Agent ?Executor|Runnable\w*(?:<.*>)?|Channel\w*<.*|Branch<.*|Chat\w*|\w*Parser|\w*Template|should_continue|tools_condition|route\w*|_write|node(?:Call|Execute|Send)\w*|(?:iteration|step|turn|round)[-_ ]?\d*|main|run)$/i

/** Whether a step's name can be that of an agent. */
export const mayBeAgent = (name: string): boolean => name !== '' && !MACHINERY.test(name)

/** The agent that LangChain's metadata of a step names: outright, or by the graph's nodes around it. */
export function langChainAgent(metadata: unknown): string | undefined {
  for (const key of ['lc_agent_name', 'ls_agent_name', 'agent_name']) {
    const name = textOf(at(metadata, key))
    if (name !== undefined && name !== '') return name
  }
  const path = textOf(at(metadata, 'langgraph_checkpoint_ns')) ?? textOf(at(metadata, 'checkpoint_ns')) ?? ''
  const nodes = path.split('|').map((node) => node.split(':')[0]!)
  const node = textOf(at(metadata, 'langgraph_node'))
  return [node ?? '', ...nodes.reverse()].find(mayBeAgent)
}

/** Words that end the name of a role: what follows describes it, as "helpful" describes any assistant. */
const END =
  /^(?:helpful|designed|given|asked|tasked|able|built|trained|being|going|who|that|which|in|of|for|with|on|and|or|at|to|from|by|working|whose|a|an|the|is|agent|assistant)$/i
const MOST_WORDS = 3

/** A name for the agent with this system prompt: from "You are the planner of a team.", it is planner. */
export function agentNameIn(system: string): string {
  const [, said] = /\byou are (?:now )?(?:(?:an?|the|our) )?([^.,;:!?\n()"]{2,60})/i.exec(system) ?? []
  const words = (said ?? '').split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const end = words.findIndex((word) => END.test(word))
  const name = words.slice(0, Math.min(MOST_WORDS, end === -1 ? words.length : end))
  return name.length === 0 ? 'assistant' : name.join('-').toLowerCase()
}

/** A name without case, spaces and punctuation, by which an agent and the tool of its name are matched. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')
