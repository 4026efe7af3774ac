import type { LogFormat } from '../contract.ts'
import { aiSdk } from './ai-sdk.ts'
import { anthropic } from './anthropic.ts'
import { atif } from './atif.ts'
import { chatml } from './chatml.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'
import { react } from './react.ts'
import { rlRollouts } from './rl-rollouts.ts'
import { tags } from './tags.ts'

/** All formats, in the order in which they are tried: the most specific first. */
export const logFormats: readonly LogFormat[] = [
  atif,
  rlRollouts,
  openaiResponses,
  aiSdk,
  anthropic,
  chatml,
  tags,
  react,
  openaiChat,
]
