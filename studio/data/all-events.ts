import type { EventView, TrajectoryView } from '../../src/studio/api.ts'
import { useGet, useRows } from './queries.ts'

/** The events of a trajectory: the first come with it, more on request. */
export function useEvents(run: string, id: string | undefined) {
  const found = useGet(
    '/api/runs/:run/trajectories/:id',
    { run, id: id ?? '' },
    {},
    { enabled: id !== undefined },
  )
  const hasMore = found.data?.events.next !== undefined
  const list = useRows(
    '/api/runs/:run/trajectories/:id/events',
    { run, id: id ?? '' },
    hasMore ? { limit: 500 } : {},
  )
  return { found, ...merged(found.data, hasMore ? list : undefined) }
}

function merged(data: TrajectoryView | undefined, list: ReturnType<typeof useRows> | undefined) {
  const first = data?.events.rows ?? []
  const rows = (list?.rows ?? []) as EventView[]
  return {
    events: rows.length > first.length ? rows : first,
    hasMore: list?.hasMore ?? false,
    loadMore: list?.loadMore ?? (() => {}),
  }
}
