export interface Noun {
  one: string
  many: string
}

/** A setting for stories, with its vocabulary. */
export interface Setting {
  key: string
  /** First sentences, without numbers. */
  scenes: readonly string[]
  /** Who holds, makes or carries things. */
  holders: readonly string[]
  holderNoun: Noun
  things: readonly Noun[]
  /** What holders do with things: bakes, bake, baked by. */
  act: { third: string; base: string; done: string }
  /** Time spans for small and for large numbers. */
  spans: { short: string; long: string }
  /** Participles for a subset of things: "made with rye flour". */
  parts: readonly string[]
  /** Participles for discarded things: "burnt". */
  losses: readonly string[]
  /** Where more things come from: "from the day before". */
  sources: readonly string[]
  /** Who receives things: groups, and named pairs. */
  receiver: Noun
  pairs: readonly (readonly [string, string])[]
  box: Noun
  stack: Noun
  vehicle: Noun
  /** A machine or crew that processes things: "slices", "sliced". */
  worker: { name: string; third: string; done: string }
  /** Paid work per box: "Loading", "Delivering". */
  handling: string
  charging: string
  /** Lowest and highest price of one thing, in cents; omitted if things are not sold. */
  price?: readonly [number, number]
  /** Mass of one thing in tenths of a kilogram; omitted if not applicable. */
  mass?: readonly [number, number]
  /** Irrelevant sentences; # is replaced by a number between low and high. */
  asides: readonly (readonly [text: string, low: number, high: number])[]
}

export const noun = (one: string, many = `${one}s`): Noun => ({ one, many })
