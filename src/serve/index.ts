/** An API for applications, compatible with OpenAI's, in front of a model and its world. */
export { assertProtected, readKeys } from './keys.ts'
export { Metrics } from './metrics.ts'
export { Recorder } from './record/recorder.ts'
export type { RequestLog } from './request-log.ts'
export { servedGrammar } from './served-grammar.ts'
export { Service } from './service.ts'
export { SpanExporter } from './span-exporter.ts'
export { type ApiServer, startServer } from './start-server.ts'
