/** Seeded random numbers. Results depend on their exact values, which seeds.test.ts pins. */
export { Random, textFraction } from './random.ts'
export { fractionOf, seedOf } from './seeds.ts'
