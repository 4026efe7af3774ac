import type { LogFormat } from '../contract.ts'
import { langchain } from './langchain.ts'
import { langfuse } from './langfuse.ts'
import { langsmith } from './langsmith.ts'
import { openaiChat } from './openai-chat.ts'

/** All formats, in the order in which they are tried: the most specific first. */
export const logFormats: readonly LogFormat[] = [langfuse, langsmith, langchain, openaiChat]
