import type { Rollout } from '../../schema/index.ts'
import type { GroupMember, GroupView } from '../api.ts'
import { groupOf, rolloutsWhere } from './lists.ts'
import type { OpenRun } from './open-runs.ts'
import { divergence, type Path, placeOf, prefixTree } from './prefix-tree.ts'
import { missing } from './records.ts'

/** Larger groups are shown in part. */
const MOST = 256

export function group({ run, index }: OpenRun, id: string): GroupView {
  const row = groupOf(index, id)
  if (row === undefined) throw missing('group', id)
  const members = rolloutsWhere(index, 'groupId', id, MOST)
  const records = new Map<string, Pick<Rollout, 'spans'>>()
  const paths: Path[] = []
  for (const { id: member, reward } of members) {
    const record = run.get('rollout', member)
    if (record === undefined) continue
    records.set(member, { spans: record.spans })
    const tokens = record.spans.flatMap((span) => span.tokens ?? [])
    if (tokens.length > 0) paths.push({ id: member, tokens, reward })
  }
  const tree = prefixTree(paths)
  const task = run.get('task', row.taskId)
  return {
    row,
    ...(task === undefined ? {} : { task }),
    rollouts: members.map((member) => ({ ...member, ...divergesOf(member.id, paths, records) })),
    ...(tree === undefined ? {} : { common: tree.to, tree }),
  }
}

function divergesOf(
  id: string,
  paths: readonly Path[],
  records: ReadonlyMap<string, Pick<Rollout, 'spans'>>,
): Pick<GroupMember, 'diverges'> {
  const path = paths.find((one) => one.id === id)
  const found =
    path &&
    divergence(
      path,
      paths.filter((one) => one !== path),
    )
  if (found === undefined) return {}
  return {
    diverges: { ...found, ...placeOf(records.get(id)!.spans, found.token, records.get(found.from)!.spans) },
  }
}
