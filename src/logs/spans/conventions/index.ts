import { type Reading, readSpan as read } from '../reading.ts'
import type { Span } from '../span.ts'
import { aiSdk } from './ai-sdk.ts'
import { genAi } from './gen-ai.ts'
import { genAiEvents } from './gen-ai-events.ts'
import { googleAdk } from './google-adk.ts'
import { langfuse } from './langfuse.ts'
import { mlflow } from './mlflow.ts'
import { openInference } from './open-inference.ts'
import { openLlmetry } from './open-llmetry.ts'

/** The most specific first. */
const conventions = [aiSdk, mlflow, langfuse, openInference, genAi, genAiEvents, openLlmetry, googleAdk]

export const readSpan = (span: Span): Reading => read(span, conventions)
