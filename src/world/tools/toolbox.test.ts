import { expect, it } from 'vitest'
import { builtinGrammars } from '../../language/grammar/index.ts'
import { ProjectConfig } from '../../pipeline/settings.ts'
import { openToolbox } from './toolbox.ts'

it('has a tool for every tool agent of the built-in grammars, with the same payload', async () => {
  const toolbox = openToolbox(ProjectConfig.parse({ search: { provider: 'serper' } }), {
    SERPER_API_KEY: 'x',
  })
  try {
    const states = new Map((await toolbox.states()).map((state) => [state.name, state]))
    for (const { agents } of builtinGrammars.values())
      for (const { name, kind, payload } of agents.values())
        if (kind === 'tool')
          expect([name, states.get(name)?.tool?.payload.syntax]).toEqual([name, payload.syntax])
  } finally {
    await toolbox.close()
  }
})
