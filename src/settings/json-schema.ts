import { z } from 'zod'

/** What editors need to complete and check a coa.toml. */
export function settingsJsonSchema(settings: z.ZodType): Record<string, unknown> {
  const schema = z.toJSONSchema(settings, {
    io: 'input',
    // Whether a run may decide on a setting is our own note at the schema.
    override: ({ jsonSchema }) => {
      delete jsonSchema['fromRun']
    },
  })
  return { title: 'coa.toml', ...schema }
}
