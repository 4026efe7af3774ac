export { projectConfig } from './project.ts'
export { type ConfigSources, type ResolvedConfig, resolveConfig } from './resolve.ts'
export { ProjectConfig } from './schema.ts'
export { readToml, writeToml } from './toml.ts'
