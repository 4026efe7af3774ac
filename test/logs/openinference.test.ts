import { describe, test } from 'vitest'
import { openinference } from '../../src/logs/formats/openinference.ts'
import { checkConvention } from './check-team.ts'
import { phoenixPage, phoenixRows, phoenixSpans, phoenixTrace } from './span-layouts.ts'
import { openInference, openInferenceLists } from './span-writers.ts'

describe('what goes in comes out', () => {
  test('spans of Phoenix', () =>
    checkConvention(openinference, {
      write: openInference,
      of: 2,
      layouts: [phoenixTrace, phoenixPage, phoenixSpans, phoenixRows],
      thoughts: true,
    }))

  test('rows with lists of messages', () =>
    checkConvention(openinference, {
      write: openInferenceLists,
      of: 2,
      layouts: [phoenixRows, phoenixSpans],
      thoughts: true,
    }))
})
