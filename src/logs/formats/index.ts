import type { LogFormat } from '../contract.ts'
import { mlflow } from './mlflow.ts'
import { openaiChat } from './openai-chat.ts'
import { openinference } from './openinference.ts'
import { otlp } from './otlp.ts'

/** All formats, in the order in which they are tried: the most specific first. */
export const logFormats: readonly LogFormat[] = [mlflow, openinference, otlp, openaiChat]
