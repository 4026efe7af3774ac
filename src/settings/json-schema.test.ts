import { expect, it } from 'vitest'
import { ProjectConfig } from '../pipeline/settings.ts'
import { settingsJsonSchema } from './json-schema.ts'

interface Section {
  type: string
  properties: Record<string, unknown>
  additionalProperties: boolean
}

it('lists every setting, and refuses others', () => {
  const schema = settingsJsonSchema(ProjectConfig) as { properties: Record<string, Section> }
  const defaults: Record<string, object> = ProjectConfig.parse({})
  expect(Object.keys(schema.properties)).toEqual(Object.keys(ProjectConfig.shape))
  for (const [name, section] of Object.entries(schema.properties)) {
    expect(section, name).toMatchObject({ type: 'object', additionalProperties: false })
    expect(Object.keys(section.properties), name).toEqual(
      expect.arrayContaining(Object.keys(defaults[name]!)),
    )
  }
  expect(schema.properties['engine']!.properties['driver']).toMatchObject({
    enum: ['embedded', 'tinker', 'openai'],
    default: 'embedded',
  })
  expect(JSON.stringify(schema)).not.toContain('fromRun')
})
