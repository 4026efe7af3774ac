import type { Wire } from './wire.ts'

const EVERY_MS = 10_000

/** Tells the server that the session is in use, until it is stopped. It keeps no program alive. */
export function startHeartbeat(wire: Wire, sessionId: string, everyMs = EVERY_MS): () => void {
  let busy = false
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    // A heartbeat that is lost is followed by the next; trouble that lasts shows in the requests themselves.
    wire
      .json('/session_heartbeat', { body: { session_id: sessionId }, timeoutMs: everyMs, repeatable: false })
      .catch(() => undefined)
      .finally(() => {
        busy = false
      })
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
