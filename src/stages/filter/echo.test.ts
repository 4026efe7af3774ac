import { expect, it } from 'vitest'
import { isEcho } from './echo.ts'

it.each([
  ['81', '81', true],
  ['The result is 81.', '81', true],
  ['City museum medals is 88.', 'city_museum_medals = 88', true],
  ['The output:\nOsk\nSkar', 'Osk, Skar', true],
  ['The tool returned 81. It is 81.', '81\n', true],
  ['The result is 82.', '81', false],
  ['The result is 81. This looks right.', '81', false],
  ['The examples pass.', 'True', false],
  ['18', '81 8', false],
])('%j after %j: %s', (text, output, echoes) => expect(isEcho(text, output)).toBe(echoes))
