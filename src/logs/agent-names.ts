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
