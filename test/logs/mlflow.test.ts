import { describe, test } from 'vitest'
import { mlflow } from '../../src/logs/formats/mlflow.ts'
import { checkConvention } from './check-team.ts'
import { mlflowFile, mlflowNumbered, mlflowOld, mlflowRows } from './span-layouts.ts'
import { mlflow as write } from './span-writers.ts'

describe('what goes in comes out', () => {
  test('traces', () =>
    checkConvention(mlflow, {
      write,
      layouts: [mlflowFile, mlflowRows, mlflowOld, mlflowNumbered],
      thoughts: true,
    }))
})
