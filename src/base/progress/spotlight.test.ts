import { expect, it } from 'vitest'
import { Spotlight } from './spotlight.ts'

function shown() {
  const said: string[] = []
  const light = new Spotlight({
    trajectory: (title) => said.push(`# ${title}`),
    text: (piece, from) => said.push(`${from}: ${piece}`),
  })
  return { light, said }
}

it('shows one text until it ends, then all of the oldest remaining one', () => {
  const { light, said } = shown()
  const [first, second, third] = [light.begin('first'), light.begin('second'), light.begin('third')]
  second.text('b', 'model')
  first.text('a', 'model')
  third.text('c', 'model')
  second.text('B', 'tool')
  expect(said).toEqual(['# first', 'model: a'])
  first.end()
  second.text('b2', 'model')
  expect(said.slice(2)).toEqual(['# second', 'model: b', 'tool: B', 'model: b2'])
  third.end()
  second.end()
  expect(said.length).toBe(6)
})

it('keeps the last text until another starts', () => {
  const { light, said } = shown()
  light.begin('first').end()
  expect(said).toEqual(['# first'])
  light.begin('second')
  expect(said).toEqual(['# first', '# second'])
})
