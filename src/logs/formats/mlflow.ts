import type { LogFormat } from '../contract.ts'
import { at, isObject, listOf, parsedOr } from '../json.ts'
import { spanMarkup } from '../spans/markup.ts'
import { readSpans } from '../spans/read-spans.ts'

/** Traces of MLflow: `trace.to_json()`, rows of `mlflow.search_traces()`, and the artifact `traces.json`. */
export const mlflow: LogFormat = {
  name: 'mlflow',
  title: 'MLflow traces',
  matches: (value) =>
    isTrace(value) ||
    isTrace(parsedOr(at(value, 'trace') ?? null)) ||
    listOf(at(value, 'spans')).some(isSpan),
  markup: spanMarkup,
  read: async function* (records) {
    yield* readSpans(tracesIn(records))
  },
}

/** A trace in a row may be JSON. */
async function* tracesIn(records: Parameters<LogFormat['read']>[0]): ReturnType<typeof tracesOf> {
  for await (const record of records) yield* tracesOf(record)
}

async function* tracesOf({ value, where }: { value: unknown; where: string }) {
  const trace = parsedOr(at(value, 'trace') ?? null)
  yield { where, value: isTrace(trace) ? trace : value }
}

const isTrace = (value: unknown): boolean =>
  isObject(value) &&
  [at(parsedOr(value['data'] ?? null), 'spans'), value['spans']].some((spans) => listOf(spans).some(isSpan))

const isSpan = (span: unknown): boolean => {
  const attributes = at(span, 'attributes')
  return isObject(attributes) && 'mlflow.spanType' in attributes
}
