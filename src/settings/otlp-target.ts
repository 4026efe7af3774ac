import { registerSecret, UsageError } from '../base/errors/index.ts'

/** Where OpenTelemetry spans are sent. */
export interface OtlpTarget {
  url: string
  headers: Record<string, string>
  service: string
}

/** The target that the standard variables name; undefined if they name none. */
export function otlpTarget(environment: Record<string, string | undefined>): OtlpTarget | undefined {
  const given = (name: string): string | undefined => environment[name]?.trim() || undefined
  if (given('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined
  const base = given('OTEL_EXPORTER_OTLP_ENDPOINT')
  const url =
    given('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ??
    (base === undefined ? undefined : `${base.replace(/\/+$/, '')}/v1/traces`)
  if (url === undefined) return undefined
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError(`OTEL_EXPORTER_OTLP_ENDPOINT is not a URL: ${url}`, {
      fix: 'Set it to a collector that accepts OTLP over HTTP, such as http://localhost:4318.',
    })
  const headers = headersIn(
    given('OTEL_EXPORTER_OTLP_TRACES_HEADERS') ?? given('OTEL_EXPORTER_OTLP_HEADERS') ?? '',
  )
  for (const value of Object.values(headers)) registerSecret(value)
  return { url, headers, service: given('OTEL_SERVICE_NAME') ?? 'coa' }
}

/** Pairs such as `api-key=abc,tenant=one`, with values that may be percent-encoded. */
function headersIn(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const at = pair.indexOf('=')
      return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]]
    }),
  )
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
