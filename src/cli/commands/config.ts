import type { Command } from 'commander'

export function registerConfig(program: Command): void {
  const config = program.command('config').description('settings: what can be set')
  config
    .command('schema')
    .description('print the JSON Schema of coa.toml, for editors')
    .addHelpText(
      'after',
      '\nExample:\n  $ coa config schema > coa.schema.json\n\nThe first line of a coa.toml tells an editor where it is: #:schema coa.schema.json',
    )
    .action(async () => {
      const { settingsJsonSchema } = await import('../../settings/index.ts')
      const { ProjectConfig } = await import('../../pipeline/settings.ts')
      process.stdout.write(`${JSON.stringify(settingsJsonSchema(ProjectConfig), null, 2)}\n`)
    })
}
