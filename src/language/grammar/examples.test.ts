import { expect, it } from 'vitest'
import { builtinGrammars } from './builtin/index.ts'
import { parseChain } from './chain.ts'
import { exampleChains } from './examples.ts'
import { render } from './spans.ts'

it.each([...builtinGrammars.values()])('the $name example is well formed', (grammar) => {
  const chain = parseChain(grammar, render(grammar, exampleChains.get(grammar.name)!.steps), { strict: true })
  expect(chain.diagnostics).toEqual([])
  expect(chain.order.violations).toEqual([])
})
