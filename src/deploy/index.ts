/** Folders with which a model runs elsewhere, and what is published about it. */
export { type Deployed, type DeployOptions, deployModel } from './deploy.ts'
export { grammarOfRun } from './grammar-of-run.ts'
export { type DeployTarget, deployTargets } from './targets.ts'
