/** Folders with which a model runs elsewhere, and what is published about it. */
export { type Deployed, deployModel } from './deploy.ts'
export { grammarOfRun } from './grammar-of-run.ts'
export { type LocalFile, localFiles } from './publish/local-files.ts'
export { type Prepared, preparePublication } from './publish/prepare.ts'
export { type Pushed, pushFolder } from './publish/push-folder.ts'
export { type DeployTarget, deployTargets } from './targets.ts'
