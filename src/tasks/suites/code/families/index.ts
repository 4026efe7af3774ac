import type { Family } from '../draft.ts'
import { changeFamilies } from './change.ts'
import { gridFamilies } from './grids.ts'
import { intervalFamilies } from './intervals.ts'
import { listFamilies } from './lists.ts'
import { machineFamilies } from './machines.ts'
import { numberFamilies } from './numbers.ts'
import { pipelineFamilies } from './pipelines.ts'
import { recordFamilies } from './records.ts'
import { textFamilies } from './text.ts'

export const families: readonly Family[] = [
  ...pipelineFamilies,
  ...numberFamilies,
  ...listFamilies,
  ...intervalFamilies,
  ...changeFamilies,
  ...gridFamilies,
  ...machineFamilies,
  ...textFamilies,
  ...recordFamilies,
]
