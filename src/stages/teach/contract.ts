import type { Payload } from '../../language/grammar/index.ts'
import type { Contribution, Message, Task } from '../../schema/index.ts'
import type { ToolResult } from '../../world/tools/index.ts'

/** One member of a team. */
export interface AgentSpec {
  name: string
  /** What it is told about itself, before the question or an order. */
  instructions: string
  /** The tool it works with, if any: a name in the grammar. */
  tool?: string
  /** Where a team has several crews, the one it belongs to. */
  crew?: string
}

/** A moment in which an agent has to write something. */
export interface Activation {
  agent: AgentSpec
  /** What may be written now; the first is the usual one. */
  wants: readonly Contribution[]
  /** The prompt in full, as a model receives it. */
  messages: readonly Message[]
  /** What the agent's tool has just answered. */
  observation?: ToolResult
  /** The answer that is to be checked. */
  suggestion?: string
  signal: AbortSignal
}

/** What gives an agent its words: a model, or a script that knows how the task was made. */
export interface Mind {
  name: string
  /** `retries`: requests that failed before this answer came. */
  write(activation: Activation): Promise<{ text: string; retries?: number }>
}

/** Makes the minds of one run: the same for all agents, or another for each. */
export type MindMaker = (task: Task, seed: number) => (agent: AgentSpec) => Mind

/** What came of an activation. `event` is where it stands in the trajectory. */
export interface Turn {
  event: string
  thought: string
  as: Contribution
  text: string
  /** For a task: the agent it is for. */
  to?: string
  /** For a call: its payload. */
  payload?: Payload
}

/** A team member's memory: what it was told and what it wrote, as it will be told again. */
export interface Memory {
  agent: AgentSpec
  messages: Message[]
}

/** What a topology works with. Everything that happens through it is recorded. */
export interface TeamRun {
  readonly question: string
  readonly agents: ReadonlyMap<string, AgentSpec>
  /** Agents that have a tool. */
  readonly workers: readonly AgentSpec[]
  /** Starts a memory that holds the agent's instructions. */
  remember(agent: string): Memory
  /**
   * Tells an agent something and has it write. A reply that cannot be read is asked for once more; a second one
   * fails the run.
   */
  ask(memory: Memory, message: string, options: AskOptions): Promise<Turn>
  /** Hands words from one agent to another. */
  send(from: string, to: string, text: string, cause: string): string
  /** Gives the agent's tool what the agent wrote, and waits for the answer. */
  call(memory: Memory, turn: Turn): Promise<{ event: string; result: ToolResult }>
  /** True when no more steps may be taken: limits of steps, tokens, time or spend. */
  readonly exhausted: string | undefined
  /** How often reflection and a new plan are due. */
  readonly settings: TopologySettings
}

export interface AskOptions {
  wants: readonly Contribution[]
  /** The event that made this necessary. */
  cause: string | null
  observation?: ToolResult
  suggestion?: string
}

export interface TopologySettings {
  /** Tool calls after which a critic looks back. */
  reflectEvery: number
  /** Whether the domain's grammar knows a suggested answer and its check. */
  hasCheck: boolean
  /** Whether a new plan may be made on the way. */
  mayReplan: boolean
}

/** How the members of a team work together. Gives the final answer, or nothing. */
export interface Topology {
  name: string
  /** The members besides those with tools. */
  roles: readonly AgentSpec[]
  /** Names of crews that each get all workers; without it there is one set of workers for all. */
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
