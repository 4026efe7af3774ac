/** The builds of onnxruntime: they are large, so they are not part of the package but installed when they are first needed. */
export { type BuildName, builds, neededBuild, whyNoNativeBuild } from './builds.ts'
export { type InstallOptions, installBuild } from './install-build.ts'
export { type InstalledBuild, locateBuild } from './locate-build.ts'
