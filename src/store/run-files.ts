import { join } from 'node:path'

/** The paths inside a run folder. */
export interface RunFiles {
  dir: string
  manifest: string
  config: string
  events: string
  index: string
  metrics: string
  log: string
  lock: string
  checkpoints: string
  eval: string
}

export function runFiles(dir: string): RunFiles {
  return {
    dir,
    manifest: join(dir, 'manifest.json'),
    config: join(dir, 'config.toml'),
    events: join(dir, 'events.jsonl'),
    index: join(dir, 'index.sqlite'),
    metrics: join(dir, 'metrics.jsonl'),
    log: join(dir, 'log.txt'),
    lock: join(dir, 'lock'),
    checkpoints: join(dir, 'checkpoints'),
    eval: join(dir, 'eval'),
  }
}
