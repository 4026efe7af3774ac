import fc from 'fast-check'
import { expect, it } from 'vitest'
import { howMany } from '../../../test/how-many.ts'
import type { PrefixBranch } from '../api.ts'
import { divergence, prefixTree } from './prefix-tree.ts'

const paths = fc
  .array(fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 8 }), { minLength: 1, maxLength: 8 })
  .map((all) => all.map((tokens, at) => ({ id: `r${at}`, tokens, reward: at })))

it('is a tree in which each path can be followed to its end', () => {
  fc.assert(
    fc.property(paths, (all) => {
      const tree = prefixTree(all)!
      for (const { id, tokens } of all) {
        let branch: PrefixBranch | undefined = tree
        let end = 0
        while (branch !== undefined) {
          expect(branch.from).toBe(end)
          end = branch.to
          // All paths of a branch are the same up to its end.
          for (const other of all.filter((one) => branch!.rollouts.includes(one.id)))
            expect(other.tokens.slice(0, end)).toEqual(tokens.slice(0, end))
          branch = branch.branches.find(({ rollouts }) => rollouts.includes(id))
        }
        expect(end).toBe(tokens.length)
      }
    }),
    { numRuns: howMany(10_000) },
  )
})

it('finds the path with which another has most in common', () => {
  fc.assert(
    fc.property(paths, ([first, ...others]) => {
      const found = divergence(first!, others)
      const shared = others.map(({ tokens }) => {
        const at = first!.tokens.findIndex((token, place) => token !== tokens[place])
        return at === -1 ? first!.tokens.length : at
      })
      const most = Math.max(...shared)
      if (others.length === 0 || most === first!.tokens.length) expect(found).toBeUndefined()
      else expect(found).toEqual({ token: most, from: others[shared.indexOf(most)]!.id })
    }),
    { numRuns: howMany(10_000) },
  )
})
