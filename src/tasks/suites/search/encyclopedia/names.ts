import type { Random } from '../../../../base/random/index.ts'

const starts =
  'Al Bar Ber Bran Cal Cor Dal Dor El Fal Fen Gar Gil Hal Har Hol Il Ir Jor Kal Kel Lan Lor Mal Mar Mel Nor Or Os Pel Per Quen Ral Ros Sal Sel Skar Tal Tar Teg Tor Ul Val Var Vel Ver Vin Wal Wes Yar Zel'.split(
    ' ',
  )
const middles = 'a e i o an ar as el en er es il in is ol on or ul'.split(' ')
const townEnds =
  'bach berg bury by dale den ford gate ham haven holm hurst leigh mark mere moor mouth ness port stad stead sund ton vik ville wick worth'.split(
    ' ',
  )
const landEnds = 'dia land mark nia ria stan tia via'.split(' ')
const riverEnds = 'ba da der dra ga ka la lle ma na ne ra sa se ska ta va we ze'.split(' ')
const peakEnds = 'born crag dor fell horn kamm kul nock pike rock spire stein tind tor zahn'.split(' ')
const familyEnds =
  'ald and ard beck berg by den dahl ers feld gren holt ing lund man mark mond nov ren row sen son stein strand tar ter vik wald win'.split(
    ' ',
  )
const given =
  'Ada Agnes Albin Alma Anders Anselm Arvid Astrid Aurel Beata Benno Birgit Bruno Carl Cecil Clara Conrad Cyril Dagmar Dora Edgar Edith Egon Elin Elsa Emil Enid Erik Ernst Esther Eva Felix Fergus Flora Frida Georg Gerda Greta Gustav Hanna Harald Hedda Helga Henrik Hilda Hugo Ida Ilse Ingrid Irma Isak Ivar Jakob Jan Jens Johan Jonas Josef Julia Karin Karl Kaspar Klara Knut Konrad Lars Leo Lena Lina Lotte Lukas Lydia Magda Magnus Maja Marta Matilda Max Milan Mina Moritz Nadia Nils Nora Olaf Olga Oskar Otto Paula Pavel Peter Rasmus Rita Robert Rosa Rudolf Runa Samuel Selma Sigrid Simon Sofia Stefan Sven Tekla Theo Thora Tilda Tobias Ulla Ulrik Vera Viktor Vilma Walter Wanda Wilhelm Yngve'.split(
    ' ',
  )
const adjectives =
  'Amber Ancient Barren Bitter Black Blue Borrowed Bright Broken Burning Careful Clouded Cold Copper Crooked Curious Dark Deep Distant Drowned Early Eastern Empty Endless Faithful Fallen Far Fading Faint Foreign Forgotten Frozen Gentle Gilded Glass Golden Green Grey Half Hidden Hollow Honest Hungry Idle Iron Ivory Last Late Lesser Light Little Lonely Long Lost Low Marble Midnight Narrow New Nameless Northern Old Open Painted Pale Patient Quiet Red Restless Rising Roofless Salt Scarlet Second Secret Seventh Severed Shallow Silent Silver Simple Sleeping Slow Small Southern Still Stolen Stone Stubborn Sunken Tender Thin Third Tidal Tired Twin Unwritten Vanished Velvet Waiting Wandering Warm Weary Western White Wicked Wild Winter Wooden Yellow Young'.split(
    ' ',
  )
const nouns =
  'Acre Anchor Apple Arbour Ashes Avenue Bell Birch Bird Boat Bough Bridge Candle Canal Cannon Carnival Cellar Chapel Chart Circle Clock Coat Comet Compass Coral Cottage Court Crossing Crown Current Dawn Deer Descent Desk Door Dove Dream Drum Dune Echo Ember Embrace Evening Falcon Farewell Feather Ferry Field Fire Flame Flood Flute Forest Fountain Fox Frost Garden Gate Ghost Glove Grain Grove Guest Harbour Harp Harvest Hawk Heart Heron Hill Horizon Horse Hour House Hunter Inheritance Inn Island Journey Key Kingdom Lake Lantern Larch Ladder Lark Leaf Letter Library Lily Lion Loom Map March Meadow Memory Mill Mirror Moon Morning Moth Mountain Needle Night Oak Oath Ocean Orchard Order Otter Owl Oxen Palace Path Pearl Pilgrim Pine Plough Promise Queen Quarry Rain Raven Reed Return Ribbon Ring Road Roof Rope Rose Sail Scale Sea Season Shadow Shore Shepherd Sister Snow Sparrow Spring Staircase Star Stone Storm Stranger Stream Summer Swan Tailor Thief Thorn Threshold Tide Tower Traveller Tree Trumpet Uncle Valley Violin Voice Voyage Wager Wall Water Weaver Well Wheel Willow Wind Window Wing Wolf Wood Wreath Year'.split(
    ' ',
  )
const trades = 'Brothers & Co.|& Daughters|& Sons|Works|Press|Yard|Foundry|Trading Company|Mills|House'.split(
  '|',
)

/** Generates unique names, so that every title is unambiguous. */
export class Names {
  readonly #random: Random
  readonly #taken = new Set<string>()
  readonly #families: string[] = []

  constructor(random: Random) {
    this.#random = random
    while (this.#families.length < 900) {
      const family = this.#unique(() => this.#stem() + random.pick(familyEnds))
      this.#families.push(family)
    }
  }

  #unique(make: () => string): string {
    for (;;) {
      const name = make()
      const key = name.toLowerCase()
      if (this.#taken.has(key)) continue
      this.#taken.add(key)
      return name
    }
  }

  #stem(): string {
    const random = this.#random
    if (random.chance(0.4)) return random.pick(starts)
    const middle = random.pick(middles)
    // A consonant separates the vowel from endings that start with one.
    return (
      random.pick(starts) + middle + (middle.length === 1 ? random.pick(['l', 'm', 'n', 'r', 's', 'v']) : '')
    )
  }

  #phrase(): string {
    const random = this.#random
    const noun = random.pick(nouns)
    return random
      .pick([
        () => `The ${random.pick(adjectives)} ${noun}`,
        () => `The ${noun} and the ${random.pick(nouns)}`,
        () => `A ${random.pick(nouns)} for the ${random.pick(adjectives)} ${noun}`,
        () => `The ${random.pick(nouns)} of the ${random.pick(adjectives)} ${noun}`,
      ])()
      .replace(/^A (?=[AEIOU])/, 'An ')
  }

  of(kind: string): string {
    const random = this.#random
    switch (kind) {
      case 'country':
        return this.#unique(() => this.#stem() + random.pick(landEnds))
      case 'town':
        return this.#unique(() => this.#stem() + random.pick(townEnds))
      case 'river':
        return this.#unique(() => this.#stem() + random.pick(riverEnds))
      case 'mountain':
        return this.#unique(() => `Mount ${this.#stem()}${random.pick(peakEnds)}`)
      case 'person':
        return this.#unique(() => `${random.pick(given)} ${random.pick(this.#families)}`)
      case 'university':
        return this.#unique(() => `${this.#stem()}${random.pick(townEnds)} University`)
      case 'company':
        return this.#unique(() => `${random.pick(this.#families)} ${random.pick(trades)}`)
      case 'museum':
        return this.#unique(() => `${random.pick(this.#families)} Museum`)
      case 'bridge':
        return this.#unique(() => `${random.pick(adjectives)} ${random.pick(nouns)} Bridge`)
      case 'ship':
        return this.#unique(() => `SS ${random.pick([...given, ...adjectives])} ${random.pick(nouns)}`)
      default:
        return this.#unique(() => this.#phrase())
    }
  }
}
