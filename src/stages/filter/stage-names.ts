/**
 * In the order they are applied. Contamination and the judge come before near-duplicates and the number per task: otherwise a
 * contaminated or poor sequence could first displace a better one.
 */
export const stageNames = [
  'marks',
  'complexity',
  'quality',
  'voice',
  'reflection',
  'correction',
  'length',
  'contamination',
  'judge',
  'near-duplicates',
  'per task',
] as const
export type StageName = (typeof stageNames)[number]
