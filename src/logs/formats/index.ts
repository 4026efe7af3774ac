import type { LogFormat } from '../contract.ts'
import { ag2 } from './ag2.ts'
import { ag2Events } from './ag2-events.ts'
import { agno } from './agno.ts'
import { aiSdk } from './ai-sdk.ts'
import { anthropic } from './anthropic.ts'
import { atif } from './atif.ts'
import { autogen } from './autogen.ts'
import { camel } from './camel.ts'
import { chatml } from './chatml.ts'
import { claudeAgent } from './claude-agent.ts'
import { consoleText } from './console.ts'
import { crewai } from './crewai.ts'
import { googleAdk } from './google-adk.ts'
import { langchain } from './langchain.ts'
import { langfuse } from './langfuse.ts'
import { langsmith } from './langsmith.ts'
import { llamaIndex } from './llama-index.ts'
import { mlflow } from './mlflow.ts'
import { oagents } from './oagents.ts'
import { openaiAgents } from './openai-agents.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'
import { openinference } from './openinference.ts'
import { otlp } from './otlp.ts'
import { pydanticAi } from './pydantic-ai.ts'
import { react } from './react.ts'
import { rlRollouts } from './rl-rollouts.ts'
import { smolagents } from './smolagents.ts'
import { tags } from './tags.ts'

/** All formats, in the order in which they are tried: the most specific first. */
export const logFormats: readonly LogFormat[] = [
  mlflow,
  openinference,
  otlp,
  langsmith,
  langfuse,
  langchain,
  openaiAgents,
  pydanticAi,
  googleAdk,
  agno,
  llamaIndex,
  oagents,
  smolagents,
  claudeAgent,
  autogen,
  ag2Events,
  crewai,
  camel,
  atif,
  rlRollouts,
  openaiResponses,
  aiSdk,
  anthropic,
  ag2,
  chatml,
  tags,
  consoleText,
  react,
  openaiChat,
]
