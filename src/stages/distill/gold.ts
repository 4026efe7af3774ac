import type { Links } from './links.ts'

/**
 * Events written by an activation whose prompt held the gold answer. A sequence counts as having seen it when there is
 * any, told or not: what the agent said may have led the others.
 */
export function goldSeers({ byId }: Links): ReadonlySet<string> {
  const seers = new Set<string>()
  for (const event of byId.values()) {
    if (event.type === 'activated') continue
    let above = byId.get(event.parent ?? '')
    // Cycles are possible in a broken recording, and no chain is longer than the run.
    for (let steps = 0; above !== undefined && above.type !== 'activated' && steps < byId.size; steps++)
      above = byId.get(above.parent ?? '')
    if (above?.type === 'activated' && above.sawGold === true) seers.add(event.id)
  }
  return seers
}
