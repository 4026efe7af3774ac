import type { Wire } from './wire.ts'

const EVERY_MS = 10_000

/** Sends session heartbeats until it is stopped. It does not keep the process alive. */
export function startHeartbeat(wire: Wire, sessionId: string, everyMs = EVERY_MS): () => void {
  let busy = false
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    // A lost heartbeat is followed by the next; persistent problems show in the requests themselves.
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
