import type { LogFormat } from '../contract.ts'
import { spanMarkup } from '../spans/markup.ts'
import { readSpans } from '../spans/read-spans.ts'
import { hasSpans } from '../spans/spans-of.ts'

/**
 * Traces of OpenTelemetry: OTLP files of a collector, exports of Tempo and Jaeger, spans as exporters print them. What
 * their attributes mean depends on the library that wrote them; see `spans/conventions`.
 */
export const otlp: LogFormat = {
  name: 'otlp',
  title:
    'OpenTelemetry traces (OTLP JSON, Tempo, Jaeger): GenAI conventions, OpenInference, OpenLLMetry, AI SDK',
  matches: hasSpans,
  markup: spanMarkup,
  read: readSpans,
}
