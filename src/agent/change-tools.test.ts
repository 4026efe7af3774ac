import { describe, expect, it } from 'vitest'
import { says } from '../../test/rollout/fixtures.ts'
import { buildPrompt, builtinGrammars, type Grammar } from '../language/grammar/index.ts'
import { changeTools, withToolChanges } from './change-tools.ts'
import { toolNames } from './restrict-tools.ts'

const grammarOf = (name: string): Grammar => builtinGrammars.get(name)!
const changed = (name: string, add: string[], remove: string[]) =>
  changeTools(grammarOf(name), { add_tools: add, remove_tools: remove })
const promptOf = (grammar: Grammar): string => buildPrompt(grammar, 'Why?')[0]!.content

describe('other tools', () => {
  it('are in the prompt and in the order of agents', () => {
    const without = changed('web', [], ['crawl_page'])
    expect(toolNames(without)).toEqual(['web_search'])
    expect(promptOf(without)).not.toContain('crawl_page')
    expect(without.agents.get('plan')!.next).not.toContain('crawl_page')
    const added = changed('web', ['code'], [])
    expect(toolNames(added)).toEqual(['web_search', 'crawl_page', 'code'])
    expect(promptOf(added)).toContain('Run a Python program')
    // Like any tool of the grammar.
    expect(added.agents.get('code')!.next).toEqual(added.agents.get('web_search')!.next)
    expect(toolNames(changed('web', ['code'], ['web_search', 'crawl_page']))).toEqual(['code'])
  })

  it('may leave a grammar without any, if it works', () => {
    const without = changed('math', [], ['code'])
    expect([...without.agents.keys()]).toEqual(['think', 'plan', 'answer'])
    expect(() => changed('multihop', [], ['wiki_search'])).toThrow('does not work without wiki_search')
  })

  it('change nothing where the grammar has, or lacks, them anyway', () => {
    expect(changed('web', ['web_search'], ['code'])).toBe(grammarOf('web'))
    expect(() => changed('web', [], ['web_serch'])).toThrow('no tool named "web_serch"')
  })

  it('cannot be called', async () => {
    const world = says('5')
    const task = { domain: 'math', meta: {} }
    const other = withToolChanges(world, { add_tools: [], remove_tools: ['code'] })
    expect((await world.toolsOf(task)).map(({ name }) => name)).toEqual(['code'])
    expect(await other.toolsOf(task)).toEqual([])
    expect(await other.grammarOf(task)).toBe(await other.grammarOf(task))
    expect(withToolChanges(world, { add_tools: [], remove_tools: [] })).toBe(world)
  })
})
