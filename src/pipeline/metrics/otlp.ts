import type { MetricPoint } from './points.ts'
import { postJson } from './post-json.ts'
import type { OpenSink } from './sink.ts'

/** Metrics for an OpenTelemetry collector over HTTP: one gauge per metric, with the step as an attribute. */
function otlpMetrics(points: Iterable<MetricPoint>, run: string): Record<string, unknown> {
  const gauges = new Map<string, unknown[]>()
  for (const { time, step, name, value } of points) {
    const known = gauges.get(name) ?? []
    gauges.set(name, known)
    known.push({
      timeUnixNano: String(BigInt(Math.round(time)) * 1_000_000n),
      asDouble: value,
      attributes: [{ key: 'step', value: { intValue: String(step) } }],
    })
  }
  const text = (key: string, stringValue: string): unknown => ({ key, value: { stringValue } })
  return {
    resourceMetrics: [
      {
        resource: { attributes: [text('service.name', 'coa'), text('coa.run', run)] },
        scopeMetrics: [
          {
            scope: { name: 'coa' },
            metrics: [...gauges].map(([name, dataPoints]) => ({
              name: `coa.${name.replaceAll('/', '.')}`,
              gauge: { dataPoints },
            })),
          },
        ],
      },
    ],
  }
}

/** A collector that accepts OTLP over HTTP, such as http://localhost:4318. It gets the numbers; spans are not metrics. */
export const openOtlp: OpenSink = async (target, { id }) => {
  const address = new URL('v1/metrics', target.endsWith('/') ? target : `${target}/`)
  return {
    async send({ points }) {
      if (points.length > 0) await postJson(address, otlpMetrics(points, id))
    },
    async close() {},
  }
}
