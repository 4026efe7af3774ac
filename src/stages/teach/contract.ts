import type { Payload } from '../../language/grammar/index.ts'
import type { Contribution, Message, Task } from '../../schema/index.ts'
import type { ToolResult } from '../../world/tools/index.ts'

/** One member of a team. */
export interface AgentSpec {
  name: string
  /** The system prompt. */
  instructions: string
  /** The tool it uses, if any: a name in the grammar. */
  tool?: string
  /** What other agents are told about it, if it has a tool. */
  description?: string
  /** The crew it belongs to, in a team with several. */
  crew?: string
}

/** One request to an agent to write something. */
export interface Activation {
  agent: AgentSpec
  /** What the agent may write; the first is the default. */
  wants: readonly Contribution[]
  /** The full prompt, as a model receives it. */
  messages: readonly Message[]
  /** The latest output of the agent's tool. */
  observation?: ToolResult
  /** The answer to check. */
  suggestion?: string
  signal: AbortSignal
}

/** What writes for an agent: a model, or a script that knows how the task was generated. */
export interface Mind {
  name: string
  /** `retries`: failed requests before this answer. */
  write(activation: Activation): Promise<{ text: string; retries?: number }>
}

/** Creates the minds of one run: one for all agents, or a different one for each. */
export type MindMaker = (task: Task, seed: number) => (agent: AgentSpec) => Mind

/** The result of an activation. `event` is its id in the trajectory. */
export interface Turn {
  event: string
  thought: string
  as: Contribution
  text: string
  /** For a task: the agent that should do it. */
  to?: string
  /** For a call: its payload. */
  payload?: Payload
}

/** The conversation of one agent: what it received and what it wrote. */
export interface Memory {
  agent: AgentSpec
  messages: Message[]
}

/** The API for topologies. Everything that goes through it is recorded. */
export interface TeamRun {
  readonly question: string
  readonly agents: ReadonlyMap<string, AgentSpec>
  /** Agents that have a tool. */
  readonly workers: readonly AgentSpec[]
  /** Starts a conversation with the agent's system prompt. */
  remember(agent: string): Memory
  /** Sends an agent a message and returns its reply. An unparseable reply is requested once more, then the run fails. */
  ask(memory: Memory, message: string, options: AskOptions): Promise<Turn>
  /** Records a message from one agent to another, and returns its event. */
  send(from: string, to: string, text: string, cause: string): string
  /** Calls the agent's tool with what the agent wrote. */
  call(memory: Memory, turn: Turn): Promise<{ event: string; result: ToolResult }>
  /** The limit that was reached (steps, tokens, time or spend), if any; no more steps may be taken then. */
  readonly exhausted: string | undefined
  readonly settings: TopologySettings
}

export interface AskOptions {
  wants: readonly Contribution[]
  /** The event that caused this request. */
  cause: string | null
  observation?: ToolResult
  suggestion?: string
}

export interface TopologySettings {
  /** Number of tool calls between reflections. */
  reflectEvery: number
  /** Whether the grammar has a suggested answer and its check. */
  hasCheck: boolean
  /** Whether the grammar allows a new plan after a failed check. */
  mayReplan: boolean
}

/** How the members of a team work together. `work` returns the final answer, or undefined. */
export interface Topology {
  name: string
  /** The members without tools. */
  roles: readonly AgentSpec[]
  /** Names of the crews, each with its own workers. Without it, the whole team shares one set. */
  crews?: readonly string[]
  work(run: TeamRun): Promise<{ answer: string; event: string } | undefined>
}

export interface TeamLimits {
  /** Tool calls. */
  steps: number
  /** Prompt and completion tokens together. */
  tokens: number
  wallMs: number
  /** In the currency of the prices. */
  spend: number
}
