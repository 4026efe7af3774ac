import { describe, test } from 'vitest'
import { otlp } from '../../src/logs/formats/otlp.ts'
import { type Convention, checkConvention } from './check-team.ts'
import {
  consoleLines,
  jaeger,
  orphaned,
  otlpLines,
  otlpWithLogs,
  protobuf,
  tempo,
  twice,
} from './span-layouts.ts'
import {
  aiSdk7,
  aiSdkLegacy,
  genAi,
  genAiEvents,
  googleAdk,
  openInference,
  openLlmetry,
} from './span-writers.ts'

const layouts = [otlpLines, tempo, protobuf, jaeger, consoleLines]
const structured = [otlpLines, tempo, protobuf, consoleLines]

const conventions: Record<string, Convention> = {
  'GenAI attributes as JSON': { write: genAi(JSON.stringify), layouts, thoughts: true },
  'GenAI attributes as values': { write: genAi((value) => value), layouts: structured, thoughts: true },
  'GenAI events': { write: genAiEvents({ beside: false }), layouts: [...layouts, otlpWithLogs] },
  'GenAI events with calls beside': {
    write: genAiEvents({ beside: true }),
    layouts: [...layouts, otlpWithLogs],
  },
  OpenLLMetry: { write: openLlmetry, layouts },
  'Google ADK': { write: googleAdk, layouts, thoughts: true },
  OpenInference: { write: openInference, layouts, thoughts: true },
  'AI SDK 7': { write: aiSdk7({ named: true }), layouts, thoughts: true },
  'AI SDK 7 without names': { write: aiSdk7({ named: false }), layouts, thoughts: true, named: false },
  'ADK around OpenLLMetry': {
    write: googleAdk,
    layouts: [twice(otlpLines, openLlmetry, { nested: true }), twice(jaeger, openLlmetry, { nested: true })],
  },
  'GenAI beside OpenInference': {
    write: genAi(JSON.stringify),
    layouts: [
      twice(otlpLines, openInference, { nested: false }),
      twice(tempo, openInference, { nested: false }),
    ],
  },
  'spans without their parents': {
    write: genAi(JSON.stringify),
    layouts: [orphaned(otlpLines), orphaned(jaeger)],
    thoughts: true,
  },
  'AI SDK 4 to 6': { write: aiSdkLegacy, layouts, thoughts: true },
}

describe('what goes in comes out', () => {
  for (const [name, convention] of Object.entries(conventions))
    test(name, () => checkConvention(otlp, { ...convention, of: Object.keys(conventions).length }))
})
