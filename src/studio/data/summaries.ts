import { statSync } from 'node:fs'
import { join } from 'node:path'
import { readToml } from '../../settings/index.ts'
import { type AdvantageKind, advantagesOf } from '../../stages/rl/advantages.ts'
import { presets } from '../../stages/rl/presets.ts'
import { runFiles } from '../../store/index.ts'
import type { Row } from './extract.ts'
import type { Sql } from './sql.ts'

interface Member {
  id: string
  groupId: string
  reward: number | null
}

/** Advantages that are relative to the rewards of the whole step. */
const ofStep: ReadonlySet<AdvantageKind> = new Set(['batch', 'batch-group'])

/** Groups and steps of RL, and the advantage of each rollout, computed from the rewards as the trainer does. */
export class Summaries {
  readonly #index: Sql
  readonly #files: string[]
  readonly #groups = new Set<string>()
  readonly #steps = new Set<number>()
  #kind: AdvantageKind | undefined

  constructor(index: Sql, dir: string) {
    this.#index = index
    this.#files = [join(dir, 'rl.toml'), runFiles(dir).config]
  }

  /** A rollout was added. */
  touch(row: Row): void {
    this.#groups.add(row['groupId'] as string)
    if (row['step'] !== null) this.#steps.add(row['step'] as number)
  }

  /** Computes what has changed. Within a transaction. */
  finish(): void {
    if (this.#groups.size === 0) return
    const kind = this.#advantageKind()
    for (const id of this.#groups) this.#group(id, kind)
    for (const step of this.#steps) this.#step(step, kind)
    this.#groups.clear()
    this.#steps.clear()
  }

  #group(id: string, kind: AdvantageKind): void {
    this.#index.run(
      `INSERT OR REPLACE INTO grp SELECT groupId, min(seq), step, taskId, suite, count(*), sum(outcome = 'correct'), avg(reward),
        sqrt(max(0, avg(reward * reward) - avg(reward) * avg(reward))) FROM rollout WHERE groupId = ?`,
      id,
    )
    if (ofStep.has(kind)) return
    const members = this.#index.all<Member>(
      'SELECT id, groupId, reward FROM rollout WHERE groupId = ? AND step IS NOT NULL AND reward IS NOT NULL ORDER BY seq',
      id,
    )
    this.#setAdvantages([members], kind)
  }

  #step(step: number, kind: AdvantageKind): void {
    const stops = this.#index.all<{ stop: string; count: number }>(
      'SELECT stop, count(*) AS count FROM rollout WHERE step = ? GROUP BY stop',
      step,
    )
    this.#index.run(
      `INSERT OR REPLACE INTO step SELECT step, count(*), count(DISTINCT groupId),
        (SELECT count(*) FROM grp WHERE grp.step = ?1 AND spread < 1e-9), avg(reward), sum(outcome = 'correct'), avg(tokens),
        avg(calls), ?2 FROM rollout WHERE step = ?1`,
      step,
      JSON.stringify(Object.fromEntries(stops.map(({ stop, count }) => [stop, count]))),
    )
    if (!ofStep.has(kind)) return
    const members = this.#index.all<Member>(
      `SELECT rollout.id, groupId, rollout.reward FROM rollout JOIN grp ON grp.id = groupId
        WHERE rollout.step = ? AND rollout.reward IS NOT NULL AND spread >= 1e-9 ORDER BY rollout.seq`,
      step,
    )
    this.#setAdvantages(Object.values(Object.groupBy(members, ({ groupId }) => groupId)) as Member[][], kind)
  }

  #setAdvantages(groups: Member[][], kind: AdvantageKind): void {
    const advantages = advantagesOf(
      groups.map((members) => members.map(({ reward }) => reward!)),
      kind,
    )
    for (const [at, members] of groups.entries())
      for (const [place, { id }] of members.entries())
        this.#index.run('UPDATE rollout SET advantage = ? WHERE id = ?', advantages[at]![place]!, id)
  }

  /** From the settings of the run; a stage of RL that starts later has its own. */
  #advantageKind(): AdvantageKind {
    if (this.#kind !== undefined) return this.#kind
    const file = this.#files.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    try {
      const { rl } = (file === undefined ? {} : readToml(file)) as {
        rl?: { algorithm?: string; advantage?: string }
      }
      const preset = presets[(rl?.algorithm ?? 'dapo') as keyof typeof presets] ?? presets.dapo
      this.#kind = (rl?.advantage ?? preset.advantage) as AdvantageKind
    } catch {
      this.#kind = 'group'
    }
    return this.#kind
  }
}
