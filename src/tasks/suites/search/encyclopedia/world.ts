import { Random } from '../../../../base/random/index.ts'
import { kindOf } from './kinds.ts'
import { Names } from './names.ts'

export interface Thing {
  id: number
  kind: string
  title: string
  /** People: what they were, such as "a painter". */
  calling?: string
  /** By relation: the id of a thing, a year or a number. */
  facts: Map<string, number>
}

export interface World {
  seed: number
  things: readonly Thing[]
  ofKind: ReadonlyMap<string, readonly Thing[]>
  /** For each thing, the things that point to it, and the relation. */
  leadingTo: ReadonlyMap<number, readonly { from: Thing; relation: string }[]>
}

/** The number of things of each kind; people by occupation. */
const counts = {
  country: 24,
  town: 2400,
  river: 300,
  mountain: 400,
  university: 240,
  company: 1200,
  book: 3200,
  opera: 1000,
  museum: 500,
  painting: 2200,
  bridge: 900,
  ship: 1300,
}
const callings = {
  'a writer': 1400,
  'a composer': 600,
  'a painter': 900,
  'an architect': 600,
  'a mountaineer': 400,
  'an industrialist': 1200,
  'a captain': 900,
  'a scholar': 1100,
}

/** Who creates what, and in which year, so that a novel is not written before its author is an adult. */
const doers: Record<string, { calling: keyof typeof callings; year: string }> = {
  author: { calling: 'a writer', year: 'published' },
  composer: { calling: 'a composer', year: 'premiered' },
  painter: { calling: 'a painter', year: 'painted' },
  architect: { calling: 'an architect', year: 'opened' },
  climber: { calling: 'a mountaineer', year: 'climbed' },
  founder: { calling: 'an industrialist', year: 'founded' },
  captain: { calling: 'a captain', year: 'launched' },
}
const numbers: Record<string, readonly [number, number]> = {
  population: [900, 480_000],
  length: [18, 1400],
  height: [700, 5900],
}

/** Generates a world from a seed: over 20,000 interlinked things. */
export function makeWorld(seed: number): World {
  const random = new Random('world', seed)
  const names = new Names(random)
  const things: Thing[] = []
  const ofKind = new Map<string, Thing[]>([...kindOf.keys()].map((kind) => [kind, []]))
  const make = (kind: string): Thing => {
    const thing: Thing = { id: things.length, kind, title: names.of(kind), facts: new Map() }
    things.push(thing)
    ofKind.get(kind)!.push(thing)
    return thing
  }
  for (const [kind, count] of Object.entries(counts)) for (let n = 0; n < count; n++) make(kind)
  const people = new Map<string, Thing[]>()
  for (const [calling, count] of Object.entries(callings)) {
    const group: Thing[] = []
    for (let n = 0; n < count; n++) {
      const person = make('person')
      person.calling = calling
      person.facts.set('born', random.int(1700, 1950))
      group.push(person)
    }
    people.set(calling, group)
  }
  const born = (person: Thing): number => person.facts.get('born')!

  for (const thing of things) {
    for (const { name, range } of kindOf.get(thing.kind)!.relations) {
      if (thing.facts.has(name)) continue
      const doer = doers[name]
      if (thing.kind === 'person') {
        addLife(thing, name)
      } else if (doer !== undefined) {
        const person = random.pick(people.get(doer.calling)!)
        thing.facts.set(name, person.id)
        thing.facts.set(doer.year, born(person) + random.int(22, 60))
      } else if (range === 'year') {
        thing.facts.set(name, random.int(thing.kind === 'town' ? 900 : 1600, 1900))
      } else if (range === 'number') {
        thing.facts.set(name, random.int(...numbers[name]!))
      } else if (name !== 'river' || thing.kind === 'bridge' || random.chance(0.6)) {
        link(thing, name, range)
      }
    }
  }

  /** Links to a random thing, keeping the world consistent. */
  function link(thing: Thing, name: string, range: string): void {
    const candidates = ofKind.get(range)!
    let other = random.pick(candidates)
    // A capital is in its country, a mouth on its river, and an opera is later than the novel it is based on.
    if (name === 'capital') {
      while (other.facts.has('country')) other = random.pick(candidates)
      other.facts.set('country', thing.id)
    }
    if (name === 'mouth') other.facts.set('river', thing.id)
    if (name === 'basis') {
      const premiered = thing.facts.get('premiered')!
      for (let tries = 0; other.facts.get('published')! >= premiered && tries < 50; tries++)
        other = random.pick(candidates)
      if (other.facts.get('published')! >= premiered) return
    }
    thing.facts.set(name, other.id)
  }

  function addLife(person: Thing, relation: string): void {
    if (relation === 'birthplace') person.facts.set(relation, random.pick(ofKind.get('town')!).id)
    if (relation === 'university' && random.chance(0.5))
      person.facts.set(relation, random.pick(ofKind.get('university')!).id)
    if (relation === 'teacher' && random.chance(0.5)) {
      const older = elder(person)
      if (older !== undefined) person.facts.set(relation, older.id)
    }
    if (relation === 'spouse' && random.chance(0.4)) {
      const other = random.pick(ofKind.get('person')!)
      if (other === person || other.facts.has('spouse') || Math.abs(born(other) - born(person)) > 15) return
      person.facts.set(relation, other.id)
      other.facts.set(relation, person.id)
    }
  }

  function elder(person: Thing): Thing | undefined {
    const other = random.pick(people.get(person.calling!)!)
    const years = born(person) - born(other)
    return years >= 15 && years <= 50 ? other : undefined
  }

  return { seed, things, ofKind, leadingTo: inverse(things) }
}

function inverse(things: readonly Thing[]): Map<number, { from: Thing; relation: string }[]> {
  const leading = new Map<number, { from: Thing; relation: string }[]>(things.map(({ id }) => [id, []]))
  for (const from of things)
    for (const { name, range } of kindOf.get(from.kind)!.relations) {
      const value = from.facts.get(name)
      if (value !== undefined && kindOf.has(range)) leading.get(value)!.push({ from, relation: name })
    }
  return leading
}
