/** Units that are multiples of each other, one dimension per line, in terms of the smallest. */
const kinds: Record<string, number>[] = [
  { second: 1, minute: 60, hour: 3_600, day: 86_400, week: 604_800 },
  { millimeter: 1, centimeter: 10, meter: 1_000, kilometer: 1_000_000 },
  { inch: 1, foot: 12, yard: 36, mile: 63_360 },
  { milligram: 1, gram: 1_000, kilogram: 1_000_000 },
  { ounce: 1, pound: 16 },
  { milliliter: 1, liter: 1_000 },
  { cent: 1, dollar: 100 },
]

/** How many of the second unit make one of the first; undefined if they are unknown or of different dimensions. */
export function ratioOf(first: string, second: string): { top: number; bottom: number } | undefined {
  const kind = kinds.find((units) => units[first] !== undefined && units[second] !== undefined)
  return kind === undefined ? undefined : { top: kind[first]!, bottom: kind[second]! }
}

export const isKnownUnit = (name: string): boolean => kinds.some((units) => units[name] !== undefined)
