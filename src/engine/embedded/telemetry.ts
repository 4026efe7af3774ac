import { setDefaultVariable } from '../../settings/index.ts'

/**
 * Since version 1.29, onnxruntime reports its use to its publisher: models, hardware, run times. coa sends nothing that its user did not
 * ask for, so this is turned off; a user who sets the variable decides for themselves. It has to happen on the main thread and before the
 * library is loaded: a worker thread only has a copy of the environment, which native code does not see.
 */
export function disableTelemetry(): void {
  setDefaultVariable('ORT_DISABLE_TELEMETRY', '1')
}
