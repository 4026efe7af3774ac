import { UsageError } from '../../../base/errors/index.ts'
import type { MetricRow } from '../../../store/index.ts'
import { pointsOf } from './points.ts'

/** Metrics for an OpenTelemetry collector over HTTP: one gauge per metric, with the step as an attribute. */
export function otlpMetrics(rows: Iterable<MetricRow>, run: string): Record<string, unknown> {
  const gauges = new Map<string, unknown[]>()
  for (const { time, step, name, value } of pointsOf(rows)) {
    const points = gauges.get(name) ?? []
    gauges.set(name, points)
    points.push({
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

/** Sends them to a collector, such as http://localhost:4318. */
export async function sendOtlp(
  url: string,
  body: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<void> {
  const address = new URL('v1/metrics', url.endsWith('/') ? url : `${url}/`)
  let response: Response
  try {
    response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (cause) {
    throw new UsageError(`no collector responds at ${address.href}`, {
      fix: 'Start one that accepts OTLP over HTTP, or use another URL.',
      cause,
    })
  }
  if (response.ok) return
  throw new UsageError(`the collector at ${address.href} responded with status ${response.status}`, {
    fix: `It said: ${(await response.text()).slice(0, 200)}`,
  })
}
