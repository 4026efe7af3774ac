import type { LogFormat } from '../contract.ts'
import { ag2 } from './ag2.ts'
import { ag2Events } from './ag2-events.ts'
import { autogen } from './autogen.ts'
import { camel } from './camel.ts'
import { crewai } from './crewai.ts'
import { oagents } from './oagents.ts'
import { openaiAgents } from './openai-agents.ts'
import { openaiChat } from './openai-chat.ts'
import { smolagents } from './smolagents.ts'

/** All formats, in the order in which they are tried: the most specific first. */
export const logFormats: readonly LogFormat[] = [
  openaiAgents,
  oagents,
  smolagents,
  autogen,
  ag2Events,
  crewai,
  camel,
  ag2,
  openaiChat,
]
