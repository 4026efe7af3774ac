type TextFrom = 'model' | 'tool'

/** Displays one text as it is written. */
interface TextView {
  /** Starts another text and clears the last one. */
  trajectory: (title: string) => void
  text: (piece: string, from: TextFrom) => void
}

/** One of the texts being written. */
export interface Spotted {
  text: (piece: string, from: TextFrom) => void
  end: () => void
}

interface Line {
  title: string
  pieces: { piece: string; from: TextFrom }[]
}

/** Of many texts written concurrently, shows one until it ends, then the oldest that is still being written. */
export class Spotlight {
  readonly #view: TextView
  readonly #open = new Set<Line>()
  #shown: Line | undefined

  constructor(view: TextView) {
    this.#view = view
  }

  begin(title: string): Spotted {
    const line: Line = { title, pieces: [] }
    this.#open.add(line)
    if (this.#shown === undefined) this.#show(line)
    return {
      text: (piece, from) => {
        line.pieces.push({ piece, from })
        if (line === this.#shown) this.#view.text(piece, from)
      },
      end: () => {
        this.#open.delete(line)
        if (line !== this.#shown) return
        const [oldest] = this.#open
        if (oldest === undefined) this.#shown = undefined
        else this.#show(oldest)
      },
    }
  }

  #show(line: Line): void {
    this.#shown = line
    this.#view.trajectory(line.title)
    for (const { piece, from } of line.pieces) this.#view.text(piece, from)
  }
}
