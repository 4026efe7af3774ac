import { type Family, mistake, version } from '../draft.ts'
import { grid, ints, word } from '../inputs.ts'

const robot: Family = {
  name: 'robot-walk',
  levels: [2, 4],
  draft(random) {
    const [width, height] = [random.int(3, 9), random.int(3, 9)]
    const wraps = random.chance(0.5)
    const turns = random.pick(['LR', 'AB', 'QE'])
    const ahead = random.pick(['F', 'M', 'G'])
    const build = (left: string, edge: 'wrap' | 'stay') =>
      version<[string]>(
        `x, y = 0, 0
dx, dy = 0, 1
for command in commands:
    if command == '{left}':
        dx, dy = -dy, dx
    elif command == '{right}':
        dx, dy = dy, -dx
    elif command == '{ahead}':
        {move}
return [x, y]`,
        {
          ...{ ahead, left, right: left === turns[0] ? turns[1]! : turns[0]! },
          move:
            edge === 'wrap'
              ? `x, y = (x + dx) % ${width}, (y + dy) % ${height}`
              : `if 0 <= x + dx < ${width} and 0 <= y + dy < ${height}:\n            x, y = x + dx, y + dy`,
        },
        (commands) => {
          const headings = [
            [0, 1],
            [1, 0],
            [0, -1],
            [-1, 0],
          ] as const
          let [x, y, heading] = [0, 0, 0]
          for (const command of commands) {
            if (command === ahead) {
              const [dx, dy] = headings[heading]!
              const [toX, toY] = [x + dx, y + dy]
              const isInside = toX >= 0 && toX < width && toY >= 0 && toY < height
              if (edge === 'wrap') [x, y] = [(toX + width) % width, (toY + height) % height]
              else if (isInside) [x, y] = [toX, toY]
            } else if (turns.includes(command)) heading = (heading + (command === left ? 3 : 1)) % 4
          }
          return [x, y]
        },
      )
    const right = wraps ? 'wrap' : 'stay'
    return {
      ...{ entry: 'walk', parameters: [{ name: 'commands', type: 'str' }], returns: 'ints' },
      spec: [
        `A robot stands at x = 0, y = 0 of a field with x from 0 to ${width - 1} and y from 0 to ${height - 1}, and looks in the direction of growing y. In the string of commands, '${turns[0]}' turns it left by 90 degrees and '${turns[1]}' turns it right (left of growing y is shrinking x), and '${ahead}' moves it one cell ahead. Other characters are ignored.`,
        wraps
          ? 'When it would leave the field, it comes in again at the opposite side.'
          : 'A move that would leave the field is not carried out.',
        'Return the list [x, y] of where it ends.',
      ],
      right: build(turns[0]!, right),
      mistakes: [
        mistake('confuses left and right', build(turns[1]!, right)),
        mistake('treats the border the wrong way', build(turns[0]!, wraps ? 'stay' : 'wrap')),
      ],
      input: (draw, size) => [word(draw, size * 4, `${turns}${ahead}${ahead}${ahead}${ahead}`)],
      edges: [[''], [ahead], [`${turns[0]}${ahead}${ahead}`], [`${turns[1]}${ahead}x${ahead}`]],
      stages: ['robot-walk'],
    }
  },
}

const regions: Family = {
  name: 'regions',
  levels: [3, 5],
  draft(random) {
    const mark = random.pick(['#', 'x', '*', 'o'])
    const hasDiagonals = random.chance(0.5)
    const least = random.int(1, 4)
    const isLargest = random.chance(0.4)
    const build = (diagonals: boolean, minimum: number) =>
      version<[string[]]>(
        `unseen = {(r, c) for r, row in enumerate(grid) for c, cell in enumerate(row) if cell == '{mark}'}
sizes = []
while unseen:
    stack = [unseen.pop()]
    size = 0
    while stack:
        r, c = stack.pop()
        size += 1
        for dr in (-1, 0, 1):
            for dc in (-1, 0, 1):
                if {near} and (r + dr, c + dc) in unseen:
                    unseen.remove((r + dr, c + dc))
                    stack.append((r + dr, c + dc))
    sizes.append(size)
{result}`,
        {
          ...{ mark, near: diagonals ? '(dr or dc)' : 'abs(dr) + abs(dc) == 1' },
          result: isLargest
            ? 'return max(sizes, default=0)'
            : `return sum(1 for size in sizes if size >= ${minimum})`,
        },
        (rows) => {
          const cells = rows.map((row) => [...row].map((cell) => cell === mark))
          const flood = (r: number, c: number): number => {
            if (cells[r]?.[c] !== true) return 0
            cells[r][c] = false
            let size = 1 + flood(r + 1, c) + flood(r - 1, c) + flood(r, c + 1) + flood(r, c - 1)
            if (diagonals)
              size += flood(r + 1, c + 1) + flood(r - 1, c - 1) + flood(r - 1, c + 1) + flood(r + 1, c - 1)
            return size
          }
          const sizes = cells.flatMap((row, r) => row.map((_, c) => flood(r, c)))
          return isLargest ? Math.max(0, ...sizes) : sizes.filter((size) => size >= minimum).length
        },
      )
    return {
      ...{
        entry: isLargest ? 'largest_region' : 'count_regions',
        parameters: [{ name: 'grid', type: 'strs' }],
        returns: 'int',
      },
      spec: [
        `The grid is a list of strings of the same length. Cells with '${mark}' that are neighbours belong to the same region; neighbours are the cells ${hasDiagonals ? 'directly beside, above or below and the four diagonal ones' : 'directly beside, above or below, not the diagonal ones'}.`,
        isLargest
          ? 'Return the number of cells of the largest region (0 if there is none).'
          : `Return the number of regions that have at least ${least} ${least === 1 ? 'cell' : 'cells'}.`,
      ],
      right: build(hasDiagonals, least),
      mistakes: [
        mistake(
          hasDiagonals ? 'forgets diagonal neighbours' : 'takes diagonal cells for neighbours',
          build(!hasDiagonals, least),
        ),
        mistake('is off by one in the size', build(hasDiagonals, least + 1)),
      ],
      input: (draw, size) => [grid(draw, size, size + 1, `${mark}..`)],
      edges: [[[]], [['.']], [[`${mark}.`, `.${mark}`]], [[mark.repeat(least)]]],
      stages: ['regions'],
    }
  },
}

const cheapestPath: Family = {
  name: 'cheapest-path',
  levels: [3, 5],
  draft(random) {
    const isMost = random.chance(0.4)
    const toll = random.int(0, 5)
    const build = (counted: boolean, cost: number) =>
      version<[number[][]]>(
        `if not grid:
    return 0
best = []
for r, row in enumerate(grid):
    line = []
    for c, value in enumerate(row):
        options = []
        if r > 0:
            options.append(best[r - 1][c] + {cost})
        if c > 0:
            options.append(line[c - 1])
        line.append(({pick}(options) if options else {first}) + value)
    best.append(line)
return best[-1][-1]`,
        {
          cost: cost === 0 ? 0 : -cost * (isMost ? 1 : -1),
          pick: isMost ? 'max' : 'min',
          first: counted ? '0' : '-value',
        },
        (rows) => {
          if (rows.length === 0) return 0
          const sign = isMost ? -1 : 1
          const memo = new Map<string, number>()
          const to = (r: number, c: number): number => {
            if (r === 0 && c === 0) return counted ? rows[0]![0]! : 0
            const key = `${r} ${c}`
            const known = memo.get(key)
            if (known !== undefined) return known
            const ways: number[] = []
            if (r > 0) ways.push(to(r - 1, c) + sign * cost)
            if (c > 0) ways.push(to(r, c - 1))
            const value = (isMost ? Math.max(...ways) : Math.min(...ways)) + rows[r]![c]!
            memo.set(key, value)
            return value
          }
          return to(rows.length - 1, rows[0]!.length - 1)
        },
      )
    const [noun, aim] = isMost ? ['gain', 'largest'] : ['cost', 'smallest']
    const extra = isMost ? `loses ${toll}` : `costs ${toll} more`
    return {
      ...{
        entry: isMost ? 'best_path' : 'cheapest_path',
        parameters: [{ name: 'grid', type: 'rows' }],
        returns: 'int',
      },
      spec: [
        `The grid is a list of rows of integers, all of the same length. A path starts in the top left cell, ends in the bottom right cell, and goes one cell to the right or one cell down at each move. Its ${noun} is the sum of the cells on it, the first and the last included${toll === 0 ? '' : `; in addition, every move down ${extra}`}.`,
        `Return the ${aim} ${noun} of a path. An empty grid gives 0.`,
      ],
      right: build(true, toll),
      mistakes: [
        mistake('leaves out the first cell', build(false, toll)),
        mistake(`gets the price of moving down wrong`, build(true, toll + 1)),
      ],
      input(draw, size) {
        const width = draw.int(1, 2 + size)
        return [Array.from({ length: draw.int(1, 2 + size) }, () => ints(draw, width, 0, 30))]
      },
      edges: [[[]], [[[7]]], [[[1, 2, 3]]], [[[1], [2], [3]]]],
      stages: ['cheapest-path'],
    }
  },
}

const turnedRows: Family = {
  name: 'turned-rows',
  levels: [2, 5],
  draft(random) {
    const turns = random.int(1, 3)
    const isZigzag = random.chance(0.5)
    const build = (quarter: number, zigzag: boolean) =>
      version<[number[][]]>(
        `for _ in range({quarter}):
    grid = [list(row) for row in zip(*grid[::-1])]
out = []
for r, row in enumerate(grid):
    out.extend({row})
return out`,
        { quarter, row: zigzag ? 'row[::-1] if r % 2 == 1 else row' : 'row' },
        (rows) => {
          let turned = rows
          for (let count = 0; count < quarter; count++) {
            turned = (turned[0] ?? []).map((_, column) => turned.map((row) => row[column]!).reverse())
          }
          return turned.flatMap((row, index) => (zigzag && index % 2 === 1 ? [...row].reverse() : row))
        },
      )
    return {
      ...{ entry: 'read_turned', parameters: [{ name: 'grid', type: 'rows' }], returns: 'ints' },
      spec: [
        `The grid is a list of rows of integers, all of the same length. Turn it clockwise by ${turns * 90} degrees.`,
        `Then return its numbers in one list, row by row from the top, ${isZigzag ? 'the first row from left to right, the second from right to left, and so on in turns' : 'each row from left to right'}. An empty grid gives the empty list.`,
      ],
      right: build(turns, isZigzag),
      mistakes: [
        mistake('turns it the other way', build(turns === 2 ? 0 : 4 - turns, isZigzag)),
        mistake('reads the rows in the wrong directions', build(turns, !isZigzag)),
      ],
      input(draw, size) {
        const width = draw.int(1, 2 + (size >> 1))
        return [Array.from({ length: draw.int(1, 2 + (size >> 1)) }, () => ints(draw, width, 0, 60))]
      },
      edges: [
        [[]],
        [[[7]]],
        [[[1, 2, 3]]],
        [
          [
            [1, 2],
            [3, 4],
            [5, 6],
          ],
        ],
      ],
      stages: ['turned-rows'],
    }
  },
}

export const gridFamilies = [robot, regions, cheapestPath, turnedRows]
