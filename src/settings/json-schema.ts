import { z } from 'zod'

/** The JSON schema that editors use to complete and check coa.toml. */
export function settingsJsonSchema(settings: z.ZodType): Record<string, unknown> {
  const schema = z.toJSONSchema(settings, {
    io: 'input',
    // `fromRun` is an internal annotation.
    override: ({ jsonSchema }) => {
      delete jsonSchema['fromRun']
    },
  })
  return { title: 'coa.toml', ...schema }
}
