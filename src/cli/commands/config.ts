import type { Command } from 'commander'

export function registerConfig(program: Command): void {
  const config = program
    .command('config')
    .description('print the JSON Schema of the settings file')
    .addHelpText('after', '\nExample:\n  $ coa config schema > coa.schema.json')
  config
    .command('schema')
    .description('print the JSON Schema of coa.toml, for editors')
    .addHelpText(
      'after',
      '\nExample:\n  $ coa config schema > coa.schema.json\n\nEditors find it if the first line of coa.toml is: #:schema coa.schema.json',
    )
    .action(async () => {
      const { settingsJsonSchema } = await import('../../settings/index.ts')
      const { ProjectConfig } = await import('../../pipeline/settings.ts')
      process.stdout.write(`${JSON.stringify(settingsJsonSchema(ProjectConfig), null, 2)}\n`)
    })
}
