export interface Noun {
  one: string
  many: string
}

/** A place where stories happen, with the words that fit together there. */
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
  /** When: of a small number, of a large one. */
  spans: { short: string; long: string }
  /** Participles for things that belong to a part: "made with rye flour". */
  parts: readonly string[]
  /** Participles for things that drop out: "burnt". */
  losses: readonly string[]
  /** Where more things come from: "from the day before". */
  sources: readonly string[]
  /** Who gets things: several of a kind, and pairs with names. */
  receiver: Noun
  pairs: readonly (readonly [string, string])[]
  box: Noun
  stack: Noun
  vehicle: Noun
  /** A machine or crew that goes through things: "slices", "sliced". */
  worker: { name: string; third: string; done: string }
  /** What is done to one box, and what is paid for: "Loading", "Delivering". */
  handling: string
  charging: string
  /** Lowest and highest price of one thing, in cents; left out where things are not sold. */
  price?: readonly [number, number]
  /** Mass of one thing in tenths of a kilogram; left out where it makes no sense. */
  mass?: readonly [number, number]
  /** Sentences beside the point; # stands for a number between low and high. */
  asides: readonly (readonly [text: string, low: number, high: number])[]
}

export const noun = (one: string, many = `${one}s`): Noun => ({ one, many })
