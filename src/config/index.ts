export { parseToml, readToml, writeToml } from './toml.ts'
