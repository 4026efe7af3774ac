/** Random numbers that follow from a seed. Results depend on every value: seeds.test.ts pins them. */
export { Random, textFraction } from './random.ts'
export { fractionOf, seedOf } from './seeds.ts'
