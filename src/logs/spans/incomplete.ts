import { modelCalls, toolNodes } from './same-call.ts'
import type { SpanNode } from './span-tree.ts'

/** What a trace lacks, and whether enough is left to be read as a run. One without agents lacks nothing. */
export function problemsOf(nodes: readonly SpanNode[]): { problems: string[]; isReadable: boolean } {
  const models = modelCalls(nodes)
  const agents = nodes.filter(
    ({ kind, messages = [], output = [] }) => kind === 'agent' && messages.length + output.length > 0,
  )
  if (models.length === 0 && agents.length === 0) {
    const tools =
      'the trace has runs of tools, but no model calls. Trace the client library of the model too.'
    const problems = toolNodes(nodes).length > 0 ? [tools] : []
    return { problems, isReadable: false }
  }
  const problems: string[] = []
  const finished = models.filter(({ span, output = [] }) => span.error === undefined || output.length > 0)
  const silent = finished.filter(({ output = [] }) => output.length === 0)
  const isReadable = silent.length === 0 || silent.length < finished.length || agents.length > 0
  const example = silent[0]
  if (example !== undefined) {
    const many = isReadable ? 'some model calls have no output' : 'the model calls have no messages'
    problems.push(`${many}: content was not recorded. ${howToRecord(example)}`)
  }
  if ([...models, ...agents].some(({ span }) => span.dropped > 0))
    problems.push(
      'attributes of model calls were dropped, so parts of their messages may be missing. ' +
        'Raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT (128 by default) where the traces are recorded.',
    )
  return { problems, isReadable }
}

/** The switch for content of each library. */
function howToRecord({ span: { attributes, name } }: SpanNode): string {
  const has = (prefix: string): boolean => Object.keys(attributes).some((key) => key.startsWith(prefix))
  if (has('openinference.')) return 'Unset OPENINFERENCE_HIDE_INPUTS and the other variables of that name.'
  if (has('ai.') || name.startsWith('ai.'))
    return 'Leave recordInputs and recordOutputs of experimental_telemetry on.'
  if (has('traceloop.') || has('llm.request.type')) return 'Set TRACELOOP_TRACE_CONTENT=true.'
  if (has('mlflow.')) return 'Turn on autologging with inputs and outputs.'
  if (has('gcp.vertex.agent.')) return 'Set ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true.'
  return (
    'Set OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental and ' +
    'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY; if events are recorded, give their files too.'
  )
}
