import type { Agent, Payload } from '../../language/grammar/index.ts'
import type { Contribution, Message, Task } from '../../schema/index.ts'
import type { ToolResult } from '../../world/tools/index.ts'

/** One member of a team. */
export interface AgentSpec {
  name: string
  /** The system prompt. */
  instructions: string
  /** What is added to the instructions if a model plays the agent: it needs to be told more than a script. */
  help?: string
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
  /** The team's last program that ran without an error. */
  program?: string
  /** The output of the last call, if it is one short line. */
  output?: string
  /** Whether the agent reasons before it writes, also if it is guided. */
  reasons?: boolean
  /** The agents that a task may be for. */
  workers?: readonly string[]
  /** The tool of the agent, as the grammar defines it. */
  tool?: ToolFormat
  /** The format of the final answer. */
  answer?: Agent['payload']
  signal: AbortSignal
}

export type ToolFormat = Pick<Agent, 'name' | 'tag' | 'payload'>

/** What an agent wrote, in parts. */
export interface Reply {
  thought: string
  as: Contribution
  text: string
  /** For a task: the agent that should do it. */
  to?: string
  /** How many further blocks of the same kind were ignored. */
  ignored?: number
}

/** What a mind wrote. */
export interface Written {
  text: string
  /** The chain of thought, where a server returns it separately. */
  reasoning?: string
  /** The parts of the text, if the mind knows them; otherwise they are read from the text. */
  reply?: Reply
  /** Failed requests before this answer. */
  retries?: number
  /** Repeats what the agent was given, without a request to the model: it costs nothing. */
  isCopy?: boolean
  /** Requests to the model, if it took more than one to write this. */
  requests?: number
}

/** What writes for an agent: a model, or a script that knows how the task was generated. */
export interface Mind {
  name: string
  /** A model is shown help and examples, and its replies are read leniently. */
  isModel?: boolean
  /** Its replies are guided, so it needs no examples of the format. */
  isGuided?: boolean
  write(activation: Activation): Promise<Written>
}

/** Creates the minds of one run: one for all agents, or a different one for each. */
export type MindMaker = (task: Task, seed: number) => (agent: AgentSpec) => Mind

/** The result of an activation. `event` is its id in the trajectory. */
export interface Turn extends Reply {
  event: string
  /** For a call: its payload. */
  payload?: Payload
}

/** The conversation of one agent: what it received and what it wrote. */
export interface Memory {
  agent: AgentSpec
  messages: Message[]
  /** What the first message to the agent begins with. */
  opening?: string
}

/** The API for topologies. Everything that goes through it is recorded. */
export interface TeamRun {
  readonly question: string
  /** Whether the system prompt of every agent already has the question. */
  readonly sharesQuestion: boolean
  readonly agents: ReadonlyMap<string, AgentSpec>
  /** Agents that have a tool. */
  readonly workers: readonly AgentSpec[]
  /** Starts a conversation with the agent's system prompt. */
  remember(agent: string): Memory
  /** Sends an agent a message and returns its reply. An unparseable reply is requested again, then the run fails. */
  ask(memory: Memory, message: string, options: AskOptions): Promise<Turn>
  /** Records a message from one agent to another, and returns its event. */
  send(from: string, to: string, text: string, cause: string): string
  /** Calls the agent's tool with what the agent wrote. */
  call(memory: Memory, turn: Turn): Promise<{ event: string; result: ToolResult }>
  /** Whether two answers are the same. */
  isSame(one: string, other: string): Promise<boolean>
  /** Whether the checker rejects a suggested answer. Only `teach.verdicts` times, and never in evaluations. */
  isRejected(suggestion: string): Promise<boolean>
  /** The limit that was reached (steps, tokens, time or spend), if any; no more steps may be taken then. */
  readonly exhausted: string | undefined
  /** Whether a leader that may not give more tasks is asked for an answer: a model, within its limits of tokens and time. */
  readonly mayConclude: boolean
  readonly settings: TopologySettings
}

export interface AskOptions {
  wants: readonly Contribution[]
  /** Why a reply that can be read cannot be used; undefined if it can. */
  refuse?: (reply: Reply) => string | undefined
  /** The event that caused this request. */
  cause: string | null
  observation?: ToolResult
  suggestion?: string
  /** Whether the agent reasons before it writes, also if it is guided. */
  reasons?: boolean
}

export interface TopologySettings {
  /** Number of tool calls between reflections. */
  reflectEvery: number
  /** Whether the grammar has a suggested answer and its check. */
  hasCheck: boolean
  /** Whether the grammar allows a new plan after a failed check. */
  mayReplan: boolean
  /** How many calls a worker may make for one task, if its tool returns an error or it wants to go on. */
  workerSteps: number
  /** Whether a leader gives a task before it may suggest an answer: small models guess, or repeat an example. */
  workFirst: boolean
  /** How often an answer is compared with that of an agent that solves the question on its own; see `teach.recheck`. */
  recheck: number
}

/** How models are asked and read. Scripts need none of it. */
export interface ReplySettings {
  /** Whether replies in other formats than the requested one are accepted. Default: lenient. */
  replies?: 'lenient' | 'strict'
  /** How often an unusable reply is requested again. Default 1. */
  retries?: number
  /** Whether prompts have help and examples. Default true. */
  examples?: boolean
  /** See `TopologySettings`. Default 2. */
  workerSteps?: number
  /** See `TopologySettings`. Default 0. */
  recheck?: number
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
