import type { ReactNode } from 'react'
import type { GroupMember, PrefixBranch } from '../../src/studio/api.ts'
import { short, whole } from './format.ts'

const ROW = 26
const WIDTH = 720
const LABEL = 190

interface PrefixTreeProps {
  tree: PrefixBranch
  members: readonly GroupMember[]
  chosen: string | undefined
  choose: (id: string) => void
}

interface Line {
  branch: PrefixBranch
  x1: number
  x2: number
  y: number
  parentY: number | undefined
}

/** The rollouts of a group as a tree of shared tokens: each fork is a place where they diverge. */
export function PrefixTree({ tree, members, chosen, choose }: PrefixTreeProps): ReactNode {
  const longest = Math.max(1, deepest(tree))
  const scale = (token: number): number => 8 + (token / longest) * (WIDTH - LABEL - 16)
  const lines: Line[] = []
  const leaves: { id: string; y: number; x: number }[] = []
  layOut(tree, undefined)
  function layOut(branch: PrefixBranch, parentY: number | undefined): number {
    const line: Line = { branch, x1: scale(branch.from), x2: scale(branch.to), y: 0, parentY }
    lines.push(line)
    const below = new Set(branch.branches.flatMap(({ rollouts }) => rollouts))
    const ends = branch.rollouts.filter((id) => !below.has(id))
    const heights: number[] = []
    for (const id of ends) {
      leaves.push({ id, y: leaves.length * ROW + ROW / 2, x: line.x2 })
      heights.push(leaves.at(-1)!.y)
    }
    for (const next of branch.branches) heights.push(layOut(next, Number.NaN))
    line.y = heights.length === 0 ? ROW / 2 : (Math.min(...heights) + Math.max(...heights)) / 2
    return line.y
  }
  connect(tree, lines)
  const height = Math.max(1, leaves.length) * ROW + 24
  const byId = new Map(members.map((member, index) => [member.id, { member, number: index + 1 }]))
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Tree of shared beginnings">
      <svg className="prefix-tree" width={WIDTH} height={height} viewBox={`0 0 ${WIDTH} ${height}`}>
        <title>Tree of the tokens that rollouts share; the table below has the same places as numbers</title>
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <g key={share}>
            <path className="grid" d={`M${scale(share * longest)} 0V${height - 20}`} />
            <text x={scale(share * longest)} y={height - 6}>
              {whole(share * longest)}
            </text>
          </g>
        ))}
        {lines.map(({ branch, x1, x2, y, parentY }) => (
          <g
            key={`${branch.from} ${branch.rollouts.join()}`}
            className={`branch ${rewardClass(branch.meanReward, members)} ${chosen !== undefined && branch.rollouts.includes(chosen) ? 'chosen' : ''}`}
          >
            <title>
              {`${branch.rollouts.length} of them, tokens ${branch.from} to ${branch.to}, mean reward ${short(branch.meanReward)}`}
            </title>
            <path
              d={`M${x1} ${parentY ?? y}V${y}H${x2}`}
              style={{ strokeWidth: 1.5 + Math.min(6, branch.rollouts.length * 0.8) }}
            />
          </g>
        ))}
        {leaves.map(({ id, y, x }) => {
          const found = byId.get(id)
          if (found === undefined) return null
          const { member, number } = found
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: for the mouse; the table has buttons
            <g key={id} className={`leaf ${id === chosen ? 'chosen' : ''}`} onClick={() => choose(id)}>
              <rect className="target" x={x} y={y - ROW / 2} width={WIDTH - x} height={ROW} />
              <path className="to-label" d={`M${x + 8} ${y}H${WIDTH - LABEL + 4}`} />
              <circle cx={x} cy={y} r="3.5" className={member.outcome} />
              <text x={WIDTH - LABEL + 10} y={y + 4} className="name">
                {member.outcome === 'correct' ? '✓' : member.outcome === 'wrong' ? '✗' : '○'} rollout {number}
                , {short(member.reward)}
              </text>
            </g>
          )
        })}
      </svg>
    </div>
  )
}

/** Each branch begins at the height of its parent. */
function connect(tree: PrefixBranch, lines: Line[]): void {
  const byBranch = new Map(lines.map((line) => [line.branch, line]))
  const visit = (branch: PrefixBranch): void => {
    for (const next of branch.branches) {
      byBranch.get(next)!.parentY = byBranch.get(branch)!.y
      visit(next)
    }
  }
  visit(tree)
}

function deepest({ to, branches }: PrefixBranch): number {
  return Math.max(to, ...branches.map(deepest))
}

/** Above or below the mean of the group. */
function rewardClass(reward: number | undefined, members: readonly GroupMember[]): string {
  const rewards = members.flatMap((member) => member.reward ?? [])
  if (reward === undefined || rewards.length === 0) return ''
  const mean = rewards.reduce((sum, one) => sum + one, 0) / rewards.length
  return Math.abs(reward - mean) < 1e-9 ? '' : reward > mean ? 'above' : 'below'
}
