/** The student as policy: one stream, live tools, stop rules. Used by training, solving and evaluation. */
export type { Policy, RolloutJob, RolloutSettings, World } from './contract.ts'
export { modelFolder, openStudent, type Student } from './open-student.ts'
export { openWorld, rolloutSettings } from './open-world.ts'
export { type Replay, replay } from './replay.ts'
export { type RollOutOptions, rollOut } from './roll-out.ts'
export { type RollOutAllOptions, rollOutAll } from './roll-out-all.ts'
export { type Score, scoreOf } from './score.ts'
export { seedOf } from './seeds.ts'
