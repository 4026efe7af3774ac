import { readEnvironment } from '../../settings/index.ts'
import { openMlflow } from './mlflow.ts'
import { openOtlp } from './otlp.ts'
import { openPythonSink } from './python-sink.ts'
import type { MetricSink, OpenSink, SinkName, SinkRun } from './sink.ts'
import { openTensorboard } from './tensorboard.ts'

const openers: Record<SinkName, OpenSink> = {
  tensorboard: openTensorboard,
  otlp: openOtlp,
  mlflow: openMlflow,
  wandb: (target, run, options) => openPythonSink('wandb', target, run, options),
  trackio: (target, run, options) => openPythonSink('trackio', target, run, options),
}

export function openSink(
  name: SinkName,
  target: string,
  run: SinkRun,
  { python }: { python: string },
): Promise<MetricSink> {
  return openers[name](target, run, { python, environment: readEnvironment() })
}
